// SPDX-License-Identifier: BSL-1.0
// Failures that are more than one call: devices that disappear, exceptions of somebody else, memory that must not be
// written; in single, prepared, replayed and queued runs.
#include <onto/onto.hpp>

#include "../catch.hpp"
#include "saboteur.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

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
matrix filled(float value) { return matrix{{value, value}, {value, value}}; }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Which device a sentence says was lost: `CPU:0`, `GPU:1`, or nothing.
std::string lost_device(const std::string& said) {
  const std::string mark = "[onto.device] /device:";
  const std::size_t at = said.find(mark);
  if (at != 0 || !contains(said, " was lost (it was pulled out) and runs nothing any more")) return {};
  return said.substr(mark.size(), 5);
}

}  // namespace

// ---- devices that disappear -------------------------------------------------------------------------------

TEST_CASE("a device that disappears in mid-run: the run says so, others go on, and it stays gone",
          "[session][faults][runtime]") {
  const auto program =
      fetches(assign_add(on<gpu<0>>(w), x), assign(on<gpu<1>>(v), on<gpu<0>>(w * 2) + x), on<cpu<0>>(sum(x * x)));
  bool finished = false;
  std::string seen;
  for (int call = 0; !finished; ++call) {
    for (const int before : {0, 1, 4}) {  // at first, when it is recorded, and when it is replayed
      for (const bool prepared : {false, true}) {
        INFO("call " << call << " after " << before << " runs" << (prepared ? ", prepared" : ""));
        session sess{{.simulated_gpus = 2}};
        REQUIRE(sess.devices().size() == 3);
        sess.run(fetches(assign(on<gpu<0>>(w), 1), assign(on<gpu<1>>(v), 2)));
        const auto step = sess.prepare(program);
        const auto run = [&] { prepared ? (void)step(x = filled(1)) : (void)sess.run(program, x = filled(1)); };
        for (int k = 0; k < before; ++k) run();
        saboteur s;
        s.at = call;
        s.how = failure::lost;
        sess.inject(s.hook());
        const std::string said = words_of<internal_error>(run);
        sess.inject({});
        if (s.calls <= call) {
          finished = true;
          CHECK(said == "nothing was thrown");
          continue;
        }
        const std::string lost = lost_device(said);
        CHECK(contains("CPU:0 GPU:0 GPU:1", lost));
        CHECK(lost.size() == 5);
        CHECK(contains(said, "; in "));
        CHECK(contains(said, ") on /device:" + lost));
        if (!contains(seen, lost)) seen += lost + " ";

        // What needs it fails at once, and says why; nothing has changed.
        for (int again = 0; again < 2; ++again) CHECK(lost_device(words_of<internal_error>(run)) == lost);
        CHECK(lost_device(words_of<internal_error>([&] { sess.prepare(program)(x = filled(1)); })) == lost);
        if (lost == "CPU:0") continue;
        const auto w_before = filled(static_cast<float>(1 + before));
        if (lost == "GPU:1") {
          CHECK(sess.run(w) == w_before);
          CHECK(sess.run(on<gpu<0>>(x + w), x = filled(1)) == filled(static_cast<float>(2 + before)));
          CHECK(lost_device(words_of<internal_error>([&] { sess.run(v); })) == lost);
        } else {
          CHECK(sess.run(v) == filled(before ? static_cast<float>(2 * before + 1) : 2));
          CHECK(sess.run(on<gpu<1>>(x + x), x = filled(1)) == filled(2));
          CHECK(lost_device(words_of<internal_error>([&] { sess.run(w); })) == lost);
        }
        CHECK(sess.run(on<cpu<0>>(sum(x)), x = filled(1)) == 4.0f);
        const auto other = sess.prepare(on<cpu<0>>(x * 2));
        for (int k = 0; k < 3; ++k) CHECK(other(x = filled(3)) == filled(6));
      }
    }
  }
  CHECK(contains(seen, "GPU:0"));
  CHECK(contains(seen, "GPU:1"));
  CHECK(contains(seen, "CPU:0"));
}

TEST_CASE("a device that disappears under queued runs: each handle says so", "[session][faults][runtime]") {
  for (int call = 0; call < 12; ++call) {
    session sess{{.simulated_gpus = 2}};
    REQUIRE(sess.devices().size() == 3);
    sess.run(assign(on<gpu<0>>(w), 0));
    const auto step = sess.prepare(assign_add(on<gpu<0>>(w), on<gpu<1>>(x)));
    saboteur s;
    s.at = call;
    s.how = failure::lost;
    sess.inject(s.hook());
    std::vector<decltype(step.async(x = filled(1)))> runs;
    for (int k = 0; k < 6; ++k) runs.push_back(step.async(x = filled(1)));
    int good = 0;
    std::string lost;
    for (auto& r : runs) {
      try {
        const matrix value = r.get();
        CHECK(value == filled(static_cast<float>(++good)));
        CHECK(lost.empty());  // none is good after a bad one
      } catch (const internal_error& e) {
        lost = lost_device(e.what());
        CHECK(lost.size() == 5);
      }
    }
    sess.inject({});
    CHECK(lost.size() == 5);
    if (lost == "GPU:1") CHECK(sess.run(w) == filled(static_cast<float>(good)));
  }
}

// ---- in prepared runs -------------------------------------------------------------------------------------

TEST_CASE("whatever call fails in a prepared run, new or replayed, variables keep their values",
          "[session][faults][runtime]") {
  for (const int gpus : {0, 2}) {
    session_options o;
    o.allow_soft_placement = true;
    o.simulated_gpus = gpus;
    session sess{o};
    const auto program = fetches(assign_add(on<gpu<0>>(w), x), assign(on<gpu<1>>(v), softmax(on<gpu<0>>(w)) + x),
                                 assign_add(count, 1), on<cpu<0>>(sum(w * x)), on<gpu<1>>(concat<0>(x, v)));
    sess.run(fetches(assign(on<gpu<0>>(w), 0), assign(on<gpu<1>>(v), 0), assign(count, 0)));
    const auto step = sess.prepare(program);
    for (const int warm : {0, 1, 3})
      for (const failure how : {failure::memory, failure::resources, failure::internal})
        for (int call = 0;; ++call) {
          INFO("call " << call << " after " << warm << " runs");
          for (int k = 0; k < warm; ++k) step(x = filled(1));
          const matrix w_now = sess.run(w), v_now = sess.run(v);
          const std::int32_t count_now = sess.run(count);
          saboteur s;
          s.at = call;
          s.how = how;
          sess.inject(s.hook());
          std::string said;
          if (how == failure::internal)
            said = words_of<internal_error>([&] { step(x = filled(1)); });
          else
            said = words_of<resource_exhausted_error>([&] { step(x = filled(1)); });
          sess.inject({});
          if (s.calls <= call) {
            CHECK(said == "nothing was thrown");
            break;
          }
          CHECK(contains(said, "; in "));
          CHECK(contains(said, ") on /device:"));
          CHECK(sess.run(w) == w_now);
          CHECK(sess.run(v) == v_now);
          CHECK(sess.run(count) == count_now);
        }
    const std::int32_t counted = std::get<2>(step(x = filled(1)));
    CHECK(counted == sess.run(count));
  }
}

TEST_CASE("failed runs hold no memory", "[session][faults]") {
  session sess{{.simulated_gpus = 1}};
  sess.run(assign(on<gpu<0>>(w), 0));
  const auto in_use = [&] {
    std::int64_t sum = 0;
    for (const device_info& d : sess.devices()) sum += sess.memory(d.name).in_use;
    return sum;
  };
  const std::int64_t before = in_use();
  for (int call = 0; call < 8; ++call) {
    saboteur s;
    s.at = call;
    sess.inject(s.hook());
    CHECK_THROWS_AS(
        sess.run(fetches(assign_add(on<gpu<0>>(w), tanh(x)), on<cpu<0>>(softmax(x * x) + w)), x = filled(1)),
        internal_error);
    sess.inject({});
    CHECK(in_use() == before);
  }
}

// ---- exceptions of somebody else --------------------------------------------------------------------------

namespace {

using onto_test::refuses;
struct throws_a_number : elementwise<> {
  static constexpr std::string_view name = "ThrowsANumber";
  template <class T>
  static T apply(T value) {
    if (!(value < T(5))) throw 42;
    return value;
  }
};

template <class Run>
void check_nested_logic_error(Run run) {
  bool arrived = false;
  try {
    run();
  } catch (const internal_error& e) {
    CHECK(contains(e.what(), "five is too many; in "));
    CHECK(contains(e.what(), "Refuses"));
    CHECK(contains(e.what(), " on /device:"));
    try {
      std::rethrow_if_nested(e);
    } catch (const std::logic_error& original) {
      arrived = std::string(original.what()) == "five is too many";
    }
  }
  CHECK(arrived);
}

template <class Run>
void check_nested_number(Run run) {
  int arrived = 0;
  try {
    run();
  } catch (const internal_error& e) {
    CHECK(contains(e.what(),
                   "[onto.run] an operation threw no std::exception; in ThrowsANumber (ThrowsANumber) on /device:"));
    try {
      std::rethrow_if_nested(e);
    } catch (int n) {
      arrived = n;
    }
  }
  CHECK(arrived == 42);
}

tensor<float, dyn, dyn> sized(int rows, float value) {
  tensor<float, dyn, dyn> t({rows, 100});
  for (float& e : t) e = value;
  return t;
}

}  // namespace

TEST_CASE("an operation that throws: an internal_error with the original inside", "[session][faults][runtime]") {
  for (const int gpus : {0, 2}) {
    session_options o;
    o.allow_soft_placement = true;
    o.simulated_gpus = gpus;
    o.cpu_threads = 3;
    session sess{o};
    const auto logic = on<gpu<1>>(call<refuses>(open));
    const auto number = on<gpu<0>>(call<throws_a_number>(open));
    const auto step = sess.prepare(logic);
    for (const int rows : {1, 3000}) {  // alone, and in the pool's threads
      auto bad = sized(rows, 1);
      for (const std::size_t at : {std::size_t{0}, bad.size() - 1}) {
        bad.data()[at] = 5;
        check_nested_logic_error([&] { sess.run(logic, open = bad); });
        check_nested_logic_error([&] { sess.run(on<cpu<0>>(sum(call<refuses>(open))), open = bad); });
        check_nested_logic_error([&] { step(open = bad); });
        check_nested_logic_error([&] { step.async(open = bad).get(); });
        check_nested_number([&] { sess.run(number, open = bad); });
        bad.data()[at] = 1;
        CHECK(sess.run(sum(logic), open = bad) == static_cast<float>(100 * rows));
        CHECK(step(open = bad) == bad);
      }
    }
  }
}

TEST_CASE("a log callback that throws: a first run, a prepared and a queued one", "[session][faults]") {
  bool refuse = false;
  session_options o;
  o.log_device_placement = true;
  o.simulated_gpus = 1;
  o.log = [&refuse](std::string_view) {
    if (refuse) throw std::runtime_error("the disk is full");
  };
  session sess{o};
  sess.run(assign(on<gpu<0>>(w), 1));
  refuse = true;
  CHECK_THROWS_AS(sess.run(assign_add(on<gpu<0>>(w), x), x = filled(1)), std::runtime_error);
  CHECK_THROWS_AS(sess.prepare(on<gpu<0>>(x * 3)), std::runtime_error);
  refuse = false;
  const auto step = sess.prepare(on<gpu<0>>(open * 3));
  const auto other = sess.prepare(on<gpu<0>>(tanh(open)));
  refuse = true;
  CHECK_THROWS_AS(step(open = {{1, 2}}), std::runtime_error);
  auto queued = other.async(open = {{1, 2}});
  CHECK_THROWS_AS(queued.get(), std::runtime_error);
  CHECK(step(open = {{1, 2}}) == tensor<float, dyn, dyn>{{3, 6}});  // a program is logged once
  refuse = false;
  CHECK(sess.run(w) == filled(1));
  CHECK(sess.run(assign_add(on<gpu<0>>(w), x), x = filled(1)) == filled(2));
}

// ---- memory that must not be written ----------------------------------------------------------------------

TEST_CASE("feeds are only read: a page that cannot be written", "[session][faults][runtime]") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* values = static_cast<float*>(memory);
  for (int k = 0; k < 256; ++k) values[k] = 1;
  REQUIRE(mprotect(memory, page, PROT_READ) == 0);
  const tensor_ref<float, dyn, dyn> fed(std::span<const float>(values, 256), {16, 16});
  for (const int gpus : {0, 1, 3}) {
    session_options o;
    o.allow_soft_placement = true;
    o.simulated_gpus = gpus;
    session sess{o};
    constexpr auto square_variable = variable<"square", float, 16, 16>;
    const auto program =
        fetches(open, open + 1, relu(matmul(open, open) - open), softmax(open), transpose(open), slice<0, 2>(open),
                on<gpu<0>>(tanh(open) * 0.0f), on<gpu<1>>(on<gpu<0>>(open) + on<gpu<2>>(open * 2)),
                assign(on<gpu<0>>(square_variable), open));
    const auto step = sess.prepare(program);
    for (int k = 0; k < 3; ++k) {
      CHECK(std::get<2>(sess.run(program, open = fed))(3, 3) == 15);
      const auto r = step(open = fed);
      CHECK(std::get<0>(r)(15, 15) == 1);
      CHECK(std::get<7>(r)(15, 15) == 3);
      // The variable took a copy: writing it does not write the feed.
      CHECK(sess.run(assign_add(on<gpu<0>>(square_variable), 1))(0, 0) == 2);
    }
    auto queued = step.async(open = fed);
    CHECK(std::get<1>(queued.get())(0, 0) == 2);
  }
  CHECK(values[255] == 1);
  munmap(memory, page);
}
