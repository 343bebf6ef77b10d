// SPDX-License-Identifier: BSL-1.0
// Several threads in one session: no update of a variable is lost, and each run gives its own right result.
#include <onto/onto.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, dyn, dyn>;
constexpr auto y = placeholder<"y", float, dyn, dyn>;
constexpr auto total = variable<"total", float, 2, 2>;
constexpr auto steps = variable<"steps", std::int32_t>;
constexpr auto pair = variable<"pair", float, 2>;

constexpr int thread_count = 8;
constexpr int rounds = 25;

tensor<float, dyn, dyn> filled(int rows, int columns, float value) {
  tensor<float, dyn, dyn> t({rows, columns});
  for (float& e : t) e = value;
  return t;
}

void in_threads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t) threads.emplace_back(body, t);
  for (std::thread& t : threads) t.join();
}

}  // namespace

TEST_CASE("threads that add to one variable lose no update", "[session][threads]") {
  session sess{{.simulated_gpus = 4}};
  sess.run(fetches(assign(on<gpu<3>>(total), 0), assign(steps, 0)));
  in_threads([&](int t) {
    for (int k = 0; k < rounds; ++k) {
      if (t % 2 == 0) {
        sess.run(fetches(assign_add(on<gpu<3>>(total), 1), assign_add(steps, 1)));
      } else {
        sess.run(assign_sub(on<gpu<3>>(total), sum(x)), x = filled(1, 1, -1));
        sess.run(assign_add(steps, 1));
      }
    }
  });
  CHECK(sess.run(total) == tensor<float, 2, 2>{{200, 200}, {200, 200}});
  CHECK(sess.run(steps) == thread_count * rounds);
}

TEST_CASE("threads that run different programs on four GPUs each get their own results", "[session][threads]") {
  session sess{{.simulated_gpus = 4, .cpu_threads = 2}};
  sess.run(fetches(assign(on<gpu<1>>(total), 0), assign(steps, 0)));
  std::atomic<int> wrong{0};
  const auto expect = [&](bool right) { wrong += right ? 0 : 1; };
  in_threads([&](int t) {
    for (int k = 0; k < rounds; ++k) {
      const int n = 1 + (k + t) % 5;
      const auto value = static_cast<float>(t + 1);
      const auto size = static_cast<float>(n);
      switch ((t + k) % 6) {
        case 0:
          expect(sess.run(sum(on<gpu<0>>(matmul(x, y))), x = filled(n, n, value), y = filled(n, n, 1)) ==
                 value * size * size * size);
          break;
        case 1: {
          const auto r =
              sess.run(fetches(on<gpu<2>>(x + 1), on<gpu<3>>(sum<0>(x)), on<cpu<0>>(x * x)), x = filled(2, n, value));
          expect(std::get<0>(r) == filled(2, n, value + 1));
          expect(std::get<1>(r)(n - 1) == 2 * value);
          expect(std::get<2>(r) == filled(2, n, value * value));
          break;
        }
        case 2:
          expect(sess.run(on<gpu<3>>(on<gpu<2>>(on<gpu<1>>(on<gpu<0>>(x + 1) * 2) - 3) * x), x = filled(n, 3, value)) ==
                 filled(n, 3, (2 * value - 1) * value));
          break;
        case 3: {
          device_guard g{"/gpu:" + std::to_string(t % 4)};
          expect(sess.run(x * y, x = filled(n, n, value), y = filled(n, 1, 3)) == filled(n, n, 3 * value));
          break;
        }
        case 4: sess.run(fetches(assign_add(on<gpu<1>>(total), 1), assign_add(steps, 1))); break;
        default: {
          // A reader sees a value that was complete: the same number everywhere.
          const tensor<float, 2, 2> seen = sess.run(total);
          expect(seen(0, 0) == seen(0, 1) && seen(0, 0) == seen(1, 0) && seen(0, 0) == seen(1, 1));
        }
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(sess.run(sum(total)) == 4 * static_cast<float>(sess.run(steps)));
}

TEST_CASE("one prepared run may be used by several threads", "[session][threads]") {
  session sess{{.simulated_gpus = 2}};
  const auto step = sess.prepare(on<gpu<1>>(sum(on<gpu<0>>(x * 2))));
  std::atomic<int> wrong{0};
  in_threads([&](int t) {
    for (int k = 0; k < rounds; ++k) wrong += step(x = filled(1, t + 1, 1)) == static_cast<float>(2 * (t + 1)) ? 0 : 1;
  });
  CHECK(wrong == 0);
}

TEST_CASE("what reads a variable twice sees one value, whoever writes it meanwhile", "[session][threads]") {
  session sess{{.simulated_gpus = 2}};
  sess.run(assign(on<gpu<0>>(pair), 0));
  std::atomic<int> wrong{0};
  in_threads([&](int t) {
    for (int k = 0; k < rounds; ++k) {
      if (t < 3) {
        sess.run(assign_add(on<gpu<0>>(pair), 1));
      } else {
        const auto r = sess.run(fetches(pair, on<gpu<1>>(pair + 0), on<cpu<0>>(pair * 1)));
        wrong += std::get<0>(r) == std::get<1>(r) && std::get<1>(r) == std::get<2>(r) ? 0 : 1;
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(sess.run(pair) == tensor<float, 2>{3.0f * rounds, 3.0f * rounds});
}

TEST_CASE("a run that fails on one thread does not disturb the others", "[session][threads]") {
  session sess{{.simulated_gpus = 2}};
  std::atomic<int> wrong{0};
  in_threads([&](int t) {
    for (int k = 0; k < rounds; ++k) {
      if (t % 2 == 0) {
        try {
          sess.run(on<gpu<1>>(x + y), x = filled(2, 2, 1), y = filled(3, 3, 1));
          ++wrong;
        } catch (const invalid_argument_error&) {
        }
      } else {
        wrong += sess.run(on<gpu<1>>(x + y), x = filled(2, 2, 1), y = filled(2, 2, 1)) == filled(2, 2, 2) ? 0 : 1;
      }
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("several sessions live beside each other", "[session][threads]") {
  std::atomic<int> wrong{0};
  in_threads([&](int t) {
    session sess{{.simulated_gpus = 1 + t % 3}};
    sess.run(assign(total, static_cast<float>(t)));
    for (int k = 0; k < 5; ++k) sess.run(assign_add(total, x), x = filled(2, 2, 1));
    wrong += sess.run(sum(total)) == static_cast<float>(4 * (t + 5)) ? 0 : 1;
  });
  CHECK(wrong == 0);
}
