// SPDX-License-Identifier: BSL-1.0
// Eight threads, four GPUs, and everything that a session can do at once: single, prepared and queued runs, variables
// read and written, devices looked at, memory given back, runs that fail.
#include <onto/onto.hpp>

#include "../catch.hpp"
#include "saboteur.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, dyn, dyn>;
constexpr auto w = variable<"w", float, 2, 2>;
constexpr auto v = variable<"v", float, 2, 2>;
constexpr auto count = variable<"count", std::int32_t>;

tensor<float, dyn, dyn> filled(int rows, int columns, float value) {
  tensor<float, dyn, dyn> t({rows, columns});
  for (float& e : t) e = value;
  return t;
}

bool even(const tensor<float, 2, 2>& t) { return t(0, 0) == t(0, 1) && t(0, 0) == t(1, 0) && t(0, 0) == t(1, 1); }

}  // namespace

TEST_CASE("eight threads, mixed programs, four GPUs: each gets its own results and no update is lost",
          "[session][threads]") {
  session sess{{.simulated_gpus = 4, .cpu_threads = 2}};
  sess.run(fetches(assign(on<gpu<1>>(w), 0), assign(on<gpu<2>>(v), 0), assign(count, 0)));
  onto_test::dawdler late;
  sess.inject(late.hook());
  std::atomic<int> wrong{0}, added{0};
  const auto expect = [&](bool right) { wrong += right ? 0 : 1; };

  const auto chain = sess.prepare(on<gpu<3>>(on<gpu<2>>(on<gpu<1>>(on<gpu<0>>(x + 1) * 2) - 3) * x));
  const auto adds =
      sess.prepare(fetches(assign_add(on<gpu<1>>(w), 1), assign_add(on<gpu<2>>(v), 1), assign_add(count, 1)));
  const auto reads = sess.prepare(fetches(on<gpu<1>>(w * 1), on<gpu<3>>(w + v), count));

  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const auto value = static_cast<float>(t + 1);
      const auto own = sess.prepare(on<gpu<0>>(sum(x * value)) + on<cpu<0>>(sum(x)));
      for (int k = 0; k < 12; ++k) {
        const int rows = 1 + (k + t) % 3;
        const auto fed = filled(rows, 2, value);
        switch ((t + k) % 8) {
          case 0: expect(chain(x = fed) == filled(rows, 2, (2 * value - 1) * value)); break;
          case 1: {
            auto first = chain.async(x = fed);
            auto second = own.async(x = filled(rows, 2, 1));
            expect(first.get() == filled(rows, 2, (2 * value - 1) * value));
            expect(second.get() == static_cast<float>(2 * rows) * (value + 1));
            break;
          }
          case 2:
            adds();
            ++added;
            break;
          case 3: {
            auto one = adds.async();
            auto two = adds.async();
            expect(std::get<2>(two.get()) > std::get<2>(one.get()));
            added += 2;
            break;
          }
          case 4: {
            const auto [only_w, both, n] = reads();
            expect(even(only_w) && even(both) && both(0, 0) == 2 * only_w(0, 0) &&
                   only_w(0, 0) == static_cast<float>(n));
            break;
          }
          case 5:
            expect(sess.run(on<gpu<2>>(sum(on<gpu<3>>(x) - x)), x = fed) == 0.0f);
            sess.trim();
            break;
          case 6:
            try {
              sess.run(on<gpu<1>>(matmul(x, x)), x = filled(2, 3, 1));
              ++wrong;
            } catch (const invalid_argument_error&) {
            }
            for (const device_info& d : sess.devices()) expect(sess.memory(d.name).in_use >= 0);
            break;
          default:
            sess.run(fetches(assign_add(on<gpu<1>>(w), 1), assign_add(on<gpu<2>>(v), 1), assign_add(count, 1)));
            ++added;
            break;
        }
      }
    });
  for (std::thread& t : threads) t.join();
  sess.inject({});
  CHECK(wrong == 0);
  CHECK(sess.run(count) == added);
  CHECK(sess.run(w)(1, 1) == static_cast<float>(added));
  CHECK(sess.run(v)(0, 1) == static_cast<float>(added));
}

TEST_CASE("runs that fail by chance in eight threads disturb no other run and leave variables complete",
          "[session][threads]") {
  session sess{{.simulated_gpus = 4}};
  sess.run(fetches(assign(on<gpu<1>>(w), 0), assign(on<gpu<2>>(v), 0)));
  struct now_and_then {
    std::atomic<unsigned> calls{0};
    detail::fault_hook hook() {
      return {[](void* self, const char*) {
                if (static_cast<now_and_then*>(self)->calls++ % 23 == 22) throw internal_error("[onto.device] a fault");
              },
              this};
    }
  } faults;
  const auto adds = sess.prepare(fetches(assign_add(on<gpu<1>>(w), 1), assign_add(on<gpu<2>>(v), 1)));
  sess.inject(faults.hook());
  std::atomic<int> wrong{0}, added{0}, failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 12; ++k) {
        try {
          if (t % 4 == 0) {
            adds(), ++added;
          } else if (t % 4 == 1) {
            adds.async().get(), ++added;
          } else if (t % 4 == 2) {
            const auto [a, b] = sess.run(fetches(w, on<gpu<3>>(v * 1)));
            wrong += even(a) && a == b ? 0 : 1;
          } else {
            wrong +=
                sess.run(on<gpu<0>>(sum(on<gpu<3>>(x + 1))), x = filled(2, k + 1, 1)) == static_cast<float>(4 * (k + 1))
                    ? 0
                    : 1;
          }
        } catch (const internal_error&) {
          ++failed;
        }
      }
    });
  for (std::thread& t : threads) t.join();
  sess.inject({});
  CHECK(wrong == 0);
  CHECK(failed > 0);
  CHECK(sess.run(w)(0, 0) == static_cast<float>(added));
  CHECK(sess.run(v)(1, 1) == static_cast<float>(added));
}

TEST_CASE("a run that writes two variables is seen whole or not at all", "[session][threads]") {
  session sess;
  sess.run(fetches(assign(w, zeros<float, 2, 2>()), assign(v, zeros<float, 2, 2>())));
  const auto both = sess.prepare(fetches(assign_add(w, 1), assign_add(v, 1)));
  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      const auto read = sess.prepare(fetches(w + 0, v + 0));
      while (!done) {
        const auto [a, b] = read();
        torn += a == b ? 0 : 1;
      }
    });
  for (int k = 0; k < 3000; ++k) both();
  done = true;
  for (std::thread& t : readers) t.join();
  CHECK(torn == 0);
}
