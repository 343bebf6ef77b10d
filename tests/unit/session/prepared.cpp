// SPDX-License-Identifier: BSL-1.0
// Prepared programs: repeated runs give what single runs give, whatever happens to variables, shapes and sessions
// between them.
#include <onto/onto.hpp>

#include "../catch.hpp"
#include "saboteur.hpp"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace onto;
using onto_test::injected;
using onto_test::saboteur;
using onto_test::words_of;

namespace {

constexpr auto x = placeholder<"x", float, 2, 2>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto other = placeholder<"other", float, dyn, dyn>;
constexpr auto w = variable<"w", float, 2, 2>;
constexpr auto v = variable<"v", float, 2, 2>;
constexpr auto count = variable<"count", std::int32_t>;

using matrix = tensor<float, 2, 2>;

matrix filled(float value) { return matrix{{value, value}, {value, value}}; }

tensor<float, dyn, dyn> sized(int rows, int columns, float value) {
  tensor<float, dyn, dyn> t({rows, columns});
  for (float& e : t) e = value;
  return t;
}

session_options machine(int gpus) {
  session_options o;
  o.allow_soft_placement = true;
  o.simulated_gpus = gpus;
  return o;
}

}  // namespace

TEST_CASE("a prepared run gives what a run gives, for each new value of its feeds", "[session][prepared]") {
  for (const int gpus : {0, 1, 3}) {
    session sess{machine(gpus)};
    const auto program = fetches(on<gpu<2>>(softmax(on<gpu<0>>(matmul(x, x)) + on<gpu<1>>(x * 3))), on<cpu<0>>(sum(x)));
    const auto step = sess.prepare(program);
    for (int k = 0; k < 6; ++k) {
      const matrix value{{static_cast<float>(k), 1}, {0.5f, -static_cast<float>(k)}};
      CHECK(step(x = value) == sess.run(program, x = value));
    }
  }
}

TEST_CASE("the plan of a prepared program is that of what was prepared", "[session][prepared]") {
  session sess{machine(1)};
  const auto both = fetches(softmax(matmul(x, x)), sum(x));
  const auto one = sess.prepare(on<gpu<0>>(x * 3));
  CHECK(plan_of(sess.prepare(both)).text() == plan_of(both).text());
  CHECK(plan_of(one).transfers == 2);
  CHECK(plan_of<world<cpu<0>>>(one).transfers == 0);
}

TEST_CASE("a prepared run gives what a run gives, for each new shape", "[session][prepared]") {
  for (const int gpus : {0, 2}) {
    session sess{machine(gpus)};
    const auto program = on<gpu<1>>(sum<0>(on<gpu<0>>(softmax(open)) * other));
    const auto step = sess.prepare(program);
    for (int round = 0; round < 3; ++round)
      for (int rows = 1; rows < 12; ++rows) {
        const auto a = sized(rows, 3, 1), b = sized(rows % 2 ? rows : 1, 3, static_cast<float>(rows));
        CHECK(step(open = a, other = b) == sess.run(program, open = a, other = b));
      }
  }
}

// ---- variables --------------------------------------------------------------------------------------------

TEST_CASE("a prepared program that updates variables counts every run", "[session][prepared]") {
  for (const int gpus : {0, 1, 2}) {
    session sess{machine(gpus)};
    sess.run(fetches(assign(on<gpu<0>>(w), 0), assign(on<gpu<1>>(v), 100), assign(count, 0)));
    // w and v change places in memory at every run, in one direction each.
    const auto step = sess.prepare(
        fetches(assign_add(on<gpu<0>>(w), x), assign_sub(on<gpu<1>>(v), on<gpu<0>>(w * 1)), assign_add(count, 1)));
    float expected_w = 0, expected_v = 100;
    for (int k = 0; k < 9; ++k) {
      const auto [new_w, new_v, runs] = step(x = filled(static_cast<float>(k)));
      expected_v -= expected_w;  // both read what was there before
      expected_w += static_cast<float>(k);
      CHECK(new_w == filled(expected_w));
      CHECK(new_v == filled(expected_v));
      CHECK(runs == k + 1);
      if (k % 3 == 0) CHECK(sess.run(w) == filled(expected_w));
    }
  }
}

TEST_CASE("a variable assigned from outside between prepared runs", "[session][prepared]") {
  for (const int gpus : {0, 1, 2}) {
    session sess{machine(gpus)};
    sess.run(fetches(assign(on<gpu<0>>(w), 1), assign(on<gpu<1>>(v), 1)));
    const auto writes = sess.prepare(assign_add(on<gpu<0>>(w), on<gpu<0>>(x)));
    const auto reads = sess.prepare(on<gpu<1>>(on<gpu<0>>(w + x) * v));
    float expected = 1;
    for (int k = 0; k < 12; ++k) {
      if (k % 4 == 3) {
        expected = static_cast<float>(10 * k);
        sess.run(assign(on<gpu<0>>(w), expected));
      }
      if (k % 5 == 4) sess.run(assign(on<gpu<1>>(v), static_cast<float>(k)));
      const float scale = k >= 9 ? 9.0f : k >= 4 ? 4.0f : 1.0f;
      CHECK(reads(x = filled(2)) == filled((expected + 2) * scale));
      expected += 1;
      CHECK(writes(x = filled(1)) == filled(expected));
    }
  }
}

TEST_CASE("two prepared programs that write one variable in turn", "[session][prepared]") {
  for (const int gpus : {0, 1}) {
    session sess{machine(gpus)};
    sess.run(assign(on<gpu<0>>(w), 1));
    const auto doubles = sess.prepare(assign(on<gpu<0>>(w), on<gpu<0>>(w * 2)));
    const auto adds = sess.prepare(assign(on<gpu<0>>(w), on<gpu<0>>(w + x)));
    float expected = 1;
    for (int k = 0; k < 12; ++k) {
      if (k % 3 != 2) doubles(), expected *= 2;
      CHECK(adds(x = filled(3)) == filled(expected + 3));
      expected += 3;
      if (expected > 1000) sess.run(assign(on<gpu<0>>(w), 1)), expected = 1;
    }
    CHECK(sess.run(w) == filled(expected));
  }
}

TEST_CASE("a variable that gets its first value after the program was prepared", "[session][prepared]") {
  for (const int gpus : {0, 2}) {
    session sess{machine(gpus)};
    const auto reads = sess.prepare(on<gpu<0>>(w * 2));
    const auto writes = sess.prepare(assign(w, x));
    CHECK_THROWS_AS(reads(), failed_precondition_error);
    writes(x = filled(3));
    CHECK(reads() == filled(6));
    writes(x = filled(4));
    CHECK(reads() == filled(8));
    CHECK(reads() == filled(8));
  }
}

TEST_CASE("a variable that was pinned elsewhere after the program was prepared", "[session][prepared]") {
  session sess{machine(3)};
  const auto reads = sess.prepare(w + 1);  // free: the first GPU, as far as is known now
  sess.run(assign(on<gpu<2>>(w), 5));
  CHECK(reads() == filled(6));
  CHECK(reads() == filled(6));
  sess.run(assign(on<gpu<2>>(w), 6));
  CHECK(reads() == filled(7));
}

TEST_CASE("initialize sets a prepared program's variables again", "[session][prepared]") {
  constexpr auto start = variable<"start", float, 2, 2>(ones<float, 2, 2>());
  session sess{machine(1)};
  const auto step = sess.prepare(assign_add(on<gpu<0>>(start), 1));
  CHECK_THROWS_AS(step(), failed_precondition_error);
  for (int round = 0; round < 3; ++round) {
    sess.initialize(on<gpu<0>>(start));
    for (int k = 0; k < 4; ++k) CHECK(step() == filled(static_cast<float>(2 + k)));
  }
}

// ---- errors -----------------------------------------------------------------------------------------------

TEST_CASE("errors of placement arrive when a program is prepared", "[session][prepared]") {
  session sess{{.simulated_gpus = 1}};
  const std::string said =
      words_of<invalid_argument_error>([&] { static_cast<void>(sess.prepare(on<gpu<7>>(x + x))); });
  CHECK(said.find("Could not satisfy explicit device specification '/device:GPU:7'") != std::string::npos);
  CHECK(sess.prepare(on<gpu<0>>(x + x))(x = filled(1)) == filled(2));
}

TEST_CASE("errors of shape arrive at the run, and leave what was prepared as it was", "[session][prepared]") {
  for (const int gpus : {0, 2}) {
    session sess{machine(gpus)};
    const auto step = sess.prepare(on<gpu<1>>(on<gpu<0>>(matmul(open, other)) + 1));
    for (int k = 0; k < 4; ++k) {
      CHECK(step(open = sized(2, 3, 1), other = sized(3, 2, 1)) == filled(4));
      for (int columns = 4; columns < 11; ++columns)  // as many shapes as are remembered
        CHECK(step(open = sized(1, 3, 1), other = sized(3, columns, 1)) == sized(1, columns, 4));
      CHECK(words_of<invalid_argument_error>([&] {
              step(open = sized(2, 3, 1), other = sized(2, 3, 1));
            }).find("[onto.shape]") == 0);
    }
    for (int rows = 1; rows < 20; ++rows)
      CHECK_THROWS_AS(step(open = sized(rows, 3, 1), other = sized(4, 3, 1)), invalid_argument_error);
    saboteur counting;
    const injected now(sess, counting);
    CHECK(step(open = sized(2, 3, 1), other = sized(3, 2, 1)) == filled(4));
    CHECK(counting.allocations == 0);  // what could not be bound has driven out nothing
  }
}

TEST_CASE("a failure in a prepared run, first, recorded or replayed, does not reach the next", "[session][prepared]") {
  for (const int gpus : {0, 1, 2}) {
    session sess{machine(gpus)};
    sess.run(assign(on<gpu<0>>(w), 0));
    const auto step = sess.prepare(fetches(assign_add(on<gpu<0>>(w), on<gpu<1>>(x)), on<gpu<1>>(sum(w * x))));
    float expected = 0;
    for (int warm = 0; warm < 5; ++warm) {
      for (int call = 0;; ++call) {
        for (int k = 0; k < warm; ++k) {
          CHECK(std::get<0>(step(x = filled(1))) == filled(expected + 1));
          ++expected;
        }
        saboteur s;
        s.at = call;
        sess.inject(s.hook());
        bool failed = false;
        try {
          step(x = filled(1));
          ++expected;
        } catch (const internal_error&) {
          failed = true;
        }
        sess.inject({});
        INFO("call " << call << " after " << warm << " good runs");
        CHECK(failed == (s.calls > call));
        CHECK(sess.run(w) == filled(expected));
        if (!failed) break;
      }
    }
  }
}

// ---- lifetimes --------------------------------------------------------------------------------------------

TEST_CASE("constants and scalars of a prepared program live as long as it does", "[session][prepared]") {
  session sess{machine(1)};
  const auto make = [&](float factor) {
    const auto expression = std::make_unique<decltype(constant({{1.f, 2.f}, {3.f, 4.f}}) * 2.0f)>(
        constant({{factor, 2 * factor}, {3 * factor, 4 * factor}}) * 2.0f);
    return sess.prepare(on<gpu<0>>(*expression + x * factor));
  };
  const auto one = make(1), ten = make(10);
  for (int k = 0; k < 4; ++k) {
    CHECK(one(x = filled(1)) == matrix{{3, 5}, {7, 9}});
    CHECK(ten(x = filled(1)) == matrix{{30, 50}, {70, 90}});
  }
}

TEST_CASE("copies of a prepared program are the same program", "[session][prepared]") {
  session sess{machine(1)};
  sess.run(assign(on<gpu<0>>(w), 0));
  std::optional step(sess.prepare(assign_add(on<gpu<0>>(w), constant({{1.f, 2.f}, {3.f, 4.f}}))));
  const auto copy = *step;
  (*step)();
  const std::int64_t held = sess.memory(sess.devices().back().name).in_use;
  copy();
  copy();
  step.reset();
  CHECK(copy() == matrix{{4, 8}, {12, 16}});
  CHECK(sess.memory(sess.devices().back().name).in_use <= held + 256);  // and the variable's spare memory
  auto moved = std::move(copy);
  CHECK(moved() == matrix{{5, 10}, {15, 20}});
}

TEST_CASE("a prepared program may outlive its session", "[session][prepared]") {
  std::optional<session> sess;
  sess.emplace(machine(2));
  sess->run(assign(on<gpu<0>>(w), 1));
  const auto step = sess->prepare(fetches(assign_add(on<gpu<0>>(w), 1), on<gpu<1>>(w * x)));
  sess.reset();
  for (int k = 1; k < 6; ++k) {
    const auto [now, product] = step(x = filled(2));
    CHECK(now == filled(static_cast<float>(k + 1)));
    CHECK(product == filled(static_cast<float>(2 * k)));
  }
}

TEST_CASE("a prepared program may be replaced by one of another session", "[session][prepared]") {
  const auto in_session = [](float start) {
    session sess{machine(1)};
    sess.run(assign(on<gpu<0>>(w), start));
    return sess.prepare(on<gpu<0>>(w + constant({{1.f, 2.f}, {3.f, 4.f}})));
  };
  auto step = in_session(1);
  for (int k = 2; k < 5; ++k) {
    const auto first = static_cast<float>(k);
    CHECK(step() == matrix{{first, first + 1}, {first + 2, first + 3}});
    step = in_session(static_cast<float>(k));  // the session of the old one ends here
  }
  CHECK(step()(0, 0) == 5);
}

TEST_CASE("several prepared programs of a session take turns", "[session][prepared]") {
  session sess{machine(2)};
  const auto a = sess.prepare(on<gpu<0>>(softmax(open)));
  const auto b = sess.prepare(on<gpu<1>>(on<gpu<0>>(open + 1) * open));
  const auto c = sess.prepare(fetches(on<gpu<1>>(sum(open)), on<cpu<0>>(open * 2)));
  for (int k = 0; k < 10; ++k) {
    const int rows = 1 + k % 3;
    const auto value = sized(rows, 2, static_cast<float>(k));
    CHECK(a(open = value) == sized(rows, 2, 0.5f));
    CHECK(b(open = value) == sized(rows, 2, static_cast<float>((k + 1) * k)));
    const auto [total, twice] = c(open = value);
    CHECK(total == static_cast<float>(2 * rows * k));
    CHECK(twice == sized(rows, 2, static_cast<float>(2 * k)));
    CHECK(sess.run(on<gpu<0>>(softmax(open)), open = value) == sized(rows, 2, 0.5f));
  }
}

TEST_CASE("guards that have gone still place a prepared program", "[session][prepared]") {
  session sess{machine(3)};
  REQUIRE(sess.devices().size() == 4);
  const auto on_third = [&] {
    device_guard g{"/gpu:2"};
    return sess.prepare(tanh(x) + x);
  }();
  const auto before = sess.statistics(device_name::parse("/gpu:2")).kernels;
  for (int k = 0; k < 3; ++k) on_third(x = filled(0));
  CHECK(sess.statistics(device_name::parse("/gpu:2")).kernels == before + 3);
  CHECK(sess.statistics("/gpu:2").kernels == before + 3);
  CHECK(sess.memory(std::string("/gpu:2")).in_use == sess.memory(gpu<2>{}).in_use);
  CHECK_THROWS_AS(sess.memory("gpu two"), invalid_argument_error);
  CHECK_THROWS_AS(sess.statistics("/gpu:7"), not_found_error);
}
