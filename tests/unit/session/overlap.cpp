// SPDX-License-Identifier: BSL-1.0
// Independent work on different devices runs at the same time: operations that wait for each other can only finish
// together.
// They wait with the host's clock, so this is for host compilers.
#ifndef __CUDACC__
#include <onto/onto.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float>;

/// Two operations that meet: each waits until the other has begun, and gives 1 where it has.
struct meeting {
  static std::atomic<int>& begun(int who) {
    static std::atomic<int> count[2];
    return count[who];
  }
  static void reset() {
    begun(0) = 0;
    begun(1) = 0;
  }
  template <class T>
  static T meet(int me) {
    ++begun(me);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (begun(1 - me) < begun(me)) {
      if (std::chrono::steady_clock::now() > patience) return T(0);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return T(1);
  }
};

template <int Me>
struct meets : elementwise<> {
  static constexpr std::string_view name = Me == 0 ? "MeetsOther" : "MeetsOne";
  template <class T>
  static T apply(T) {
    return meeting::meet<T>(Me);
  }
};

/// How many of these run at this moment; gives the most there were.
struct crowd : elementwise<> {
  static constexpr std::string_view name = "Crowd";
  static std::atomic<int>& now() {
    static std::atomic<int> n{0};
    return n;
  }
  template <class T>
  static T apply(T) {
    const int here = ++now();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --now();
    return T(here);
  }
};

}  // namespace

TEST_CASE("two GPUs work at the same time in one run", "[session][runtime]") {
  session sess{{.simulated_gpus = 2}};
  for (int k = 0; k < 5; ++k) {
    meeting::reset();
    auto [first, second] = sess.run(fetches(on<gpu<0>>(call<meets<0>>(x)), on<gpu<1>>(call<meets<1>>(x))), x = 1.0f);
    CHECK(first == 1.0f);
    CHECK(second == 1.0f);
  }
}

TEST_CASE("two GPUs work at the same time below one sum on the CPU", "[session][runtime]") {
  session sess{{.simulated_gpus = 2}};
  meeting::reset();
  CHECK(sess.run(on<cpu<0>>(add_n(on<gpu<0>>(call<meets<0>>(x)), on<gpu<1>>(call<meets<1>>(x)))), x = 1.0f) == 2.0f);
}

TEST_CASE("a GPU works while the CPU does", "[session][runtime]") {
  session sess{{.simulated_gpus = 1}};
  for (int order = 0; order < 2; ++order) {
    meeting::reset();
    const auto a = on<gpu<0>>(call<meets<0>>(x));
    const auto b = on<cpu<0>>(call<meets<1>>(x));
    if (order == 0)
      CHECK(sess.run(fetches(a, b), x = 1.0f) == std::tuple(tensor<float>(1.0f), tensor<float>(1.0f)));
    else
      CHECK(sess.run(fetches(b, a), x = 1.0f) == std::tuple(tensor<float>(1.0f), tensor<float>(1.0f)));
  }
}

TEST_CASE("a copy that one GPU waits for does not hold up another", "[session][runtime]") {
  session sess{{.simulated_gpus = 3}};
  meeting::reset();
  // GPU 1 waits for what GPU 0 makes; meanwhile GPU 2 meets GPU 0.
  auto [chained, other] =
      sess.run(fetches(on<gpu<1>>(tanh(on<gpu<0>>(call<meets<0>>(x)))), on<gpu<2>>(call<meets<1>>(x))), x = 1.0f);
  CHECK(chained == Approx(0.76159416));
  CHECK(other == 1.0f);
}

TEST_CASE("runs of two threads on two GPUs go on at the same time", "[session][runtime]") {
  session sess{{.simulated_gpus = 2}};
  meeting::reset();
  float first = 0, second = 0;
  std::thread one([&] { first = sess.run(on<gpu<0>>(call<meets<0>>(x)), x = 1.0f); });
  std::thread two([&] { second = sess.run(on<gpu<1>>(call<meets<1>>(x)), x = 1.0f); });
  one.join();
  two.join();
  CHECK(first == 1.0f);
  CHECK(second == 1.0f);
}

TEST_CASE("one GPU does one thing at a time, in order", "[session][runtime]") {
  session sess{{.simulated_gpus = 1}};
  auto [a, b, c] =
      sess.run(fetches(on<gpu<0>>(call<crowd>(x)), on<gpu<0>>(call<crowd>(x + 1)), on<gpu<0>>(sum(call<crowd>(x * 2)))),
               x = 1.0f);
  CHECK(a == 1.0f);
  CHECK(b == 1.0f);
  CHECK(c == 1.0f);
}

TEST_CASE("what depends on another device's work waits for it", "[session][runtime]") {
  session sess{{.simulated_gpus = 4}};
  constexpr auto data = placeholder<"data", float, 64, 64>;
  tensor<float, 64, 64> ones;
  for (float& e : ones) e = 1;
  const auto a = on<gpu<0>>(matmul(data, data));
  const auto b = on<gpu<1>>(a + data);
  const auto c = on<gpu<2>>(matmul(b, a));
  const auto d = on<gpu<3>>(sum(c - a) + sum(b));
  for (int k = 0; k < 20; ++k)
    CHECK(sess.run(on<cpu<0>>(d + sum(b)), data = ones) == 4096.0f * (64 * 65 * 64 - 64 + 65 + 65));
}
#endif
