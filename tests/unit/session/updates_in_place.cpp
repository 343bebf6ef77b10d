// SPDX-License-Identifier: BSL-1.0
// Updates in place: what they save, who else may hold a variable, and that nothing changes where a run fails.
#include <onto/indexing.hpp>
#include <onto/safetensors.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../catch.hpp"
#include "saboteur.hpp"

using namespace onto;
using onto_test::saboteur;

namespace in_place_test {

/// Another thread's copy of a variable waits in the middle until it is told to go on.
inline std::atomic<bool> reading{false}, go_on{false};
struct waits : elementwise<> {
  static constexpr std::string_view name = "Waits";
  template <class T>
  static T apply(T value) {
    reading = true;
    while (!go_on) usleep(100);
    return value;
  }
};

struct throws_some : elementwise<> {
  static constexpr std::string_view name = "ThrowsSome";
  template <class T>
  static T apply(T value) {
    if (value > 40) throw std::runtime_error("the forty-first");
    return value;
  }
};

}  // namespace in_place_test

using namespace in_place_test;

namespace {

constexpr int n = 50000;
using values = tensor<float, n>;
constexpr auto x = placeholder<"x", float, n>;
constexpr auto s = placeholder<"s", float>;
constexpr auto w = variable<"w", float, n>(zeros<float, n>());
constexpr auto m = variable<"m", float, n>(zeros<float, n>());
constexpr auto v = variable<"v", float, n>(zeros<float, n>());

/// Everything that is written is one kernel's, or each a kernel's.
constexpr auto together = group(sum(x), assign_add(w, x), assign(m, 2_c * m + x), assign(v, v - w));
constexpr auto swapped = group(sum(x), assign(w, v + x), assign(v, w - x));

constexpr int rows = 100, columns = 600;
constexpr auto y = placeholder<"y", float, 4, rows>;
constexpr auto first = variable<"first", float, rows, columns>(0.5_c);
constexpr auto second = variable<"second", float, columns, 2>(0.25_c);
constexpr auto by_adam = minimize<adam{.rate = 0.125}>(mean(square(matmul(tanh(matmul(y, first)), second))));

template <class E>
bool in_place(const E& e) {
  return plan_of(e).text().find(", in place") != std::string::npos;
}

values filled(float value) {
  values t;
  for (float& each : t) each = value;
  return t;
}

/// Of one element each, what variables should be.
struct model {
  float w = 0, m = 0, v = 0;
};

memory_info memory_of(const session& sess) { return sess.memory(device_name::parse("/cpu:0")); }

}  // namespace

TEST_CASE("an update in place takes no memory beside the variables", "[session][memory]") {
  CHECK(in_place(by_adam));
  constexpr std::int64_t one = std::int64_t{4} * rows * columns;
  tensor<float, 4, rows> in;
  for (float& each : in) each = 0.01f;
  for (const bool prepared : {false, true}) {
    session sess{{.cpu_threads = 2}};
    sess.initialize(by_adam);
    const std::int64_t before = memory_of(sess).in_use;
    CHECK(before > 3 * one);  // and what Adam keeps
    float last = 1e9f;
    if (prepared) {
      const auto step = sess.prepare(by_adam);
      for (int k = 0; k < 3; ++k) last = step(y = in);
    } else {
      for (int k = 0; k < 3; ++k) last = sess.run(by_adam, y = in);
    }
    CHECK(last < 100);
    CHECK(memory_of(sess).peak <= before + plan_of(by_adam).peak_bytes(cpu<0>{}));
    CHECK(plan_of(by_adam).peak_bytes(cpu<0>{}) < 3 * one / 2);  // the gradients
  }
}

TEST_CASE("an update in place computes what one beside the variables does", "[session]") {
  tensor<float, 4, rows> in;
  for (std::size_t k = 0; k < in.size(); ++k) in.data()[k] = 0.01f * static_cast<float>(k % 7);
  session sess{{.cpu_threads = 2}}, beside{{.cpu_threads = 2}};
  sess.initialize(by_adam);
  beside.initialize(by_adam);
  beside.run(initialize(w));
  for (int k = 0; k < 3; ++k) {
    // A new value that is fetched is not written in place.
    const auto [loss, now] = beside.run(fetches(by_adam, assign_add(w, 1)), y = in);
    CHECK(sess.run(by_adam, y = in) == loss);
    CHECK(sess.run(fetches(first, second)) == beside.run(fetches(first, second)));
  }
}

TEST_CASE("random runs, some of which fail, leave variables as if all had been written beside", "[session]") {
  CHECK(in_place(together));
  CHECK(in_place(swapped));  // one kernel, which reads both before it writes
  std::mt19937 random(7);
  session sess{{.cpu_threads = 2}};
  sess.initialize(together);
  const auto step = sess.prepare(together);
  model now;
  int failed = 0;
  for (int k = 0; k < 150; ++k) {
    const auto by = static_cast<float>(random() % 5);
    const values in = filled(by);
    saboteur fails;
    fails.at = static_cast<int>(random() % 9);
    if (random() % 2) sess.inject(fails.hook());
    model next = now;
    try {
      switch (random() % 4) {
        case 0:
          next = {now.w + by, 2 * now.m + by, now.v - now.w};
          step(x = in);
          break;
        case 1:
          next = {now.w + by, 2 * now.m + by, now.v - now.w};
          sess.run(together, x = in);
          break;
        case 2:
          next.w = now.v + by, next.v = now.w - by;
          sess.run(swapped, x = in);
          break;
        default:
          next = model{};
          sess.run(fetches(assign(w, 0 * w), assign(m, 0 * m), assign(v, 0 * v)));
          break;
      }
      now = next;
    } catch (const internal_error&) {
      ++failed;
    }
    sess.inject({});
    const auto got = sess.run(fetches(w, m, v));
    REQUIRE(std::get<0>(got) == filled(now.w));
    REQUIRE(std::get<1>(got) == filled(now.m));
    REQUIRE(std::get<2>(got) == filled(now.v));
    if (std::abs(now.m) + std::abs(now.v) > 1e5f) {
      sess.run(fetches(assign(m, 0 * m), assign(v, 0 * v)));
      now.m = now.v = 0;
    }
  }
  CHECK(failed > 10);
}

TEST_CASE("who began to read before an update in place reads whole old values", "[session][threads]") {
  session sess{{.cpu_threads = 1}};
  sess.initialize(together);
  sess.run(together, x = filled(1));
  const std::int64_t before = memory_of(sess).in_use;
  reading = go_on = false;
  values got;
  std::thread reader([&] { got = sess.run(call<waits>(w)); });
  while (!reading) usleep(100);
  sess.run(together, x = filled(1));  // beside the value that is read
  const std::int64_t meanwhile = memory_of(sess).in_use;
  go_on = true;
  reader.join();
  CHECK(got == filled(1));
  CHECK(sess.run(w) == filled(2));
  CHECK(meanwhile > before);
  sess.run(together, x = filled(1));
  CHECK(sess.run(w) == filled(3));
  CHECK(memory_of(sess).in_use == before);
}

TEST_CASE("readers and a file see variables of one moment while they are updated in place", "[session][threads]") {
  constexpr auto both = group(sum(x), assign_add(w, x), assign_add(m, x));
  CHECK(in_place(both));
  session sess{{.cpu_threads = 2}};
  sess.initialize(both);
  const std::string path = (std::filesystem::temp_directory_path() / ("in_place." + std::to_string(getpid()))).string();
  std::atomic<bool> stop{false};
  std::vector<int> wrong(3);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      while (!stop) {
        const auto [a, b] = sess.run(fetches(w, m));
        const values c = sess.run(w - m);
        wrong[t] += !(a == b && a == filled(a(0)) && c == filled(0));
      }
    });
  threads.emplace_back([&] {
    while (!stop) {
      sess.save(path);
      const auto a = load_safetensors<float, n>(path, "w"), b = load_safetensors<float, n>(path, "m");
      wrong[2] += !(a == b && a == filled(a(0)));
    }
  });
  const auto step = sess.prepare(both);
  for (int k = 0; k < 300; ++k) step(x = filled(1));
  stop = true;
  for (std::thread& t : threads) t.join();
  std::filesystem::remove(path);
  CHECK(wrong == std::vector<int>(3));
  CHECK(sess.run(fetches(w, m)) == std::tuple{filled(300), filled(300)});
}

TEST_CASE("an operation that throws in an update changes nothing", "[session]") {
  CHECK(in_place(group(sum(x), assign(w, w + x))));
  CHECK(!in_place(group(sum(x), assign(w, call<throws_some>(w + x)))));
  const auto update = group(sum(x), assign(w, call<throws_some>(w + x)), assign_add(m, x));
  session sess;
  sess.initialize(update);
  for (int k = 0; k < 4; ++k) sess.run(update, x = filled(10));
  CHECK_THROWS(sess.run(update, x = filled(1)));
  CHECK(sess.run(w) == filled(40));
  CHECK(sess.run(m) == filled(40));
}

TEST_CASE("what is written to an update's own feed is written when it was read", "[session]") {
  const auto update = group(s + 1, assign_add(w, s));
  CHECK(in_place(update));
  session sess;
  sess.initialize(update);
  tensor<float> t(3);
  for (int k = 0; k < 3; ++k) sess.run_to(t, update, s = t);
  CHECK(t == 6.0f);
  CHECK(sess.run(w) == filled(3 + 4 + 5));
}

TEST_CASE("a traced update is in the trace, and right", "[session]") {
  std::string path = (std::filesystem::temp_directory_path() / ("in_place_trace." + std::to_string(getpid()))).string();
  {
    session sess{{.trace = path}};
    sess.initialize(together);
    sess.run(together, x = filled(2));
    CHECK(sess.run(m) == filled(2));
  }
  CHECK(std::filesystem::file_size(path) > 0);
  std::filesystem::remove(path);
}

namespace {

constexpr int slots = 12;
constexpr auto row = placeholder<"row", float, 1, 3>;
constexpr auto at = placeholder<"at", int>;
constexpr auto cache = variable<"cache", float, slots, 3>(0_c);
constexpr auto append = group(sum(row), assign(cache, update_slice(cache, row, stack(at, 0_c))));

}  // namespace

TEST_CASE("rows are put into a variable where it is, and nothing else of it is written", "[session]") {
  CHECK(in_place(append));
  CHECK(plan_of(append).peak_bytes(cpu<0>{}) < 4 * slots * 3 * 8);
  for (const int gpus : {0, 1}) {
    session sess{{.simulated_gpus = gpus}};
    sess.initialize(append);
    const auto step = sess.prepare(append);
    tensor<float, slots, 3> wanted;
    std::mt19937 random(3);
    for (int k = 0; k < 60; ++k) {
      const int place = static_cast<int>(random() % 16);  // outside it is the nearest
      const auto value = static_cast<float>(k);
      const tensor<float, 1, 3> in{{value, value + 0.5f, -value}};
      for (int j = 0; j < 3; ++j) wanted(std::min(place, slots - 1), j) = in(0, j);
      saboteur fails;
      fails.at = static_cast<int>(random() % 9);
      const auto before = sess.run(cache);
      if (k % 3 == 2) sess.inject(fails.hook());
      try {
        if (k % 2)
          step(row = in, at = place);
        else
          sess.run(append, row = in, at = place);
      } catch (const internal_error&) {
        wanted = before;
      }
      sess.inject({});
      REQUIRE(sess.run(cache) == wanted);
    }
  }
}

TEST_CASE("what an update of a variable's part reads of the variable is its old value", "[session]") {
  session sess;
  constexpr auto numbers = variable<"numbers", int, 6>(0_c);
  sess.run(assign(numbers, iota<int, 6>()));
  // Its own elements, in another place; its sum, as the place; and its old value beside the new one.
  const auto shifted = group(1_c * at, assign(numbers, update_slice(numbers, slice<0, 4>(numbers), stack(at))));
  CHECK(!in_place(shifted));
  sess.run(shifted, at = 1);
  CHECK(sess.run(numbers) == tensor<int, 6>{0, 0, 1, 2, 3, 5});
  sess.run(group(1_c * at, assign(numbers, update_slice(numbers, fill<int, 1>(9_c), stack(sum(numbers) - 8)))), at = 1);
  CHECK(sess.run(numbers) == tensor<int, 6>{0, 0, 1, 9, 3, 5});
  const auto [old, now] =
      sess.run(fetches(numbers + 0, assign(numbers, update_slice(numbers, fill<int, 1>(7_c), stack(at)))), at = 5);
  CHECK(old == tensor<int, 6>{0, 0, 1, 9, 3, 5});
  CHECK(now == tensor<int, 6>{0, 0, 1, 9, 3, 7});
  sess.run(group(1_c * at, assign(numbers, scatter_add(numbers, stack(at, 0_c, at), fill<int, 3>(2_c)))), at = 4);
  CHECK(sess.run(numbers) == tensor<int, 6>{2, 0, 1, 9, 7, 7});
}
