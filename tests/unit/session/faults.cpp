// SPDX-License-Identifier: BSL-1.0
// Failures in the middle of a run: each allocation, copy and kernel of a program fails once. The run throws, variables
// keep their values, and the next run works.
#include <onto/onto.hpp>

#include <string>
#include <vector>

#include "../catch.hpp"
#include "saboteur.hpp"

using namespace onto;
using onto_test::failure;
using onto_test::saboteur;
using onto_test::words_of;

namespace {

constexpr auto x = placeholder<"x", float, 2, 2>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto w = variable<"w", float, 2, 2>;
constexpr auto v = variable<"v", float, 2, 2>;
constexpr auto count = variable<"count", std::int32_t>;

using matrix = tensor<float, 2, 2>;
const matrix values{{1, 2}, {3, 4}};

/// Runs `program` as often as it makes calls, a different one failing each time; nothing may have changed after each.
template <class Run, class Remember, class Check>
int fail_everywhere(session& sess, Run run, Remember remember, Check unchanged) {
  saboteur counting;
  sess.inject(counting.hook());
  run();
  sess.inject({});
  remember();
  const int calls = counting.calls;
  CHECK(counting.allocations + counting.copies + counting.kernels == calls);

  for (int k = 0; k < calls; ++k) {
    for (const failure how : {failure::memory, failure::resources, failure::internal}) {
      INFO("call " << k << " of " << calls << ", failure " << static_cast<int>(how));
      unchanged();
      saboteur s;
      s.at = k;
      s.how = how;
      sess.inject(s.hook());
      if (how == failure::memory) CHECK_THROWS_AS(run(), resource_exhausted_error);
      if (how == failure::resources) CHECK_THROWS_AS(run(), resource_exhausted_error);
      if (how == failure::internal) {
        const std::string said = words_of<internal_error>(run);
        CHECK(said.find("[onto.device] the device failed at a ") == 0);
        CHECK(said.find("; in ") < said.find(") on /device:"));  // the node
      }
      sess.inject({});
      unchanged();
    }
  }
  return calls;
}

}  // namespace

TEST_CASE("whatever call fails, a run throws, variables keep their values, and the next run works",
          "[session][runtime]") {
  session sess{{.simulated_gpus = 2}};
  const auto cross = on<gpu<1>>(tanh(on<gpu<0>>(matmul(x, w))));
  const auto program = fetches(assign_add(on<gpu<0>>(w), x), assign(on<gpu<1>>(v), cross + x), assign_sub(count, 1),
                               on<cpu<0>>(sum(cross * x)), on<gpu<1>>(concat<0>(x, cross)), softmax(on<cpu<0>>(w + v)));
  sess.run(fetches(assign(on<gpu<0>>(w), x), assign(on<gpu<1>>(v), x), assign(count, 0)), x = values);

  matrix w_now = values, v_now = values;
  std::int32_t count_now = 0;
  const auto unchanged = [&] {
    CHECK(sess.run(w) == w_now);
    CHECK(sess.run(v) == v_now);
    CHECK(sess.run(count) == count_now);
  };
  const auto remember = [&] {
    w_now = sess.run(w);
    v_now = sess.run(v);
    count_now = sess.run(count);
  };
  const int calls = fail_everywhere(
      sess, [&] { sess.run(program, x = values); }, remember, unchanged);
  CHECK(calls > 25);  // many kinds of calls are in it

  // And it goes on from there.
  const auto after = sess.run(program, x = values);
  CHECK(std::get<0>(after) == matrix{{w_now(0, 0) + 1, w_now(0, 1) + 2}, {w_now(1, 0) + 3, w_now(1, 1) + 4}});
  CHECK(sess.run(count) == count_now - 1);
}

TEST_CASE("a failure on the CPU alone leaves variables as they were", "[session]") {
  session sess;
  sess.run(fetches(assign(w, x), assign(v, x)), x = values);
  matrix w_now = values, v_now = values;
  fail_everywhere(
      sess, [&] { sess.run(fetches(assign(w, matmul(w, v) * 0.5f), assign(v, softmax(w) + v))); },
      [&] {
        w_now = sess.run(w);
        v_now = sess.run(v);
      },
      [&] {
        CHECK(sess.run(w) == w_now);
        CHECK(sess.run(v) == v_now);
      });
}

TEST_CASE("a variable whose first value fails stays without one", "[session]") {
  const auto initial = on<gpu<0>>(w(eye<float, 2>() * ones<float, 2>()));
  int calls = 0;
  {
    session sess{{.simulated_gpus = 1}};
    saboteur counting;
    sess.inject(counting.hook());
    sess.initialize(initial);
    calls = counting.calls;
    sess.inject({});
  }
  REQUIRE(calls > 0);
  for (int k = 0; k < calls; ++k) {
    session sess{{.simulated_gpus = 1}};
    saboteur s;
    s.at = k;
    sess.inject(s.hook());
    CHECK_THROWS_AS(sess.initialize(initial), internal_error);
    sess.inject({});
    CHECK_THROWS_AS(sess.run(w), failed_precondition_error);
    sess.initialize(initial);
    CHECK(sess.run(w) == matrix{{1, 0}, {0, 1}});
  }
}

TEST_CASE("failures that change with the shapes of the feeds are no trap for the next run", "[session]") {
  session sess{{.simulated_gpus = 2}};
  const auto program = on<cpu<0>>(sum(on<gpu<1>>(softmax(on<gpu<0>>(open * open))))) + sum(open);
  for (int k = 0; k < 40; ++k) {
    tensor<float, dyn, dyn> t({1 + k % 5, 1 + k % 7});
    for (float& e : t) e = 1;
    saboteur s;
    s.at = k % 13;
    sess.inject(s.hook());
    try {
      sess.run(program, open = t);
      CHECK(s.calls <= s.at);
    } catch (const internal_error&) {
      CHECK(s.calls > s.at);
    }
    sess.inject({});
    CHECK(sess.run(program, open = t) == Approx(static_cast<float>((1 + k % 5) * (2 + k % 7))));
  }
}

TEST_CASE("an exception of a log callback reaches the caller, and the session goes on", "[session]") {
  bool refuse = true;
  session_options o;
  o.log_device_placement = true;
  o.simulated_gpus = 1;
  o.log = [&refuse](std::string_view) {
    if (refuse) throw internal_error("the log is full");
  };
  session sess{o};
  CHECK_THROWS_AS(sess.run(x + x, x = values), internal_error);
  refuse = false;
  CHECK(sess.run(x + x, x = values) == matrix{{2, 4}, {6, 8}});
}
