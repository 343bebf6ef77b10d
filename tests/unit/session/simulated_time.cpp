// SPDX-License-Identifier: BSL-1.0
// Copies run under kernels, two GPUs take half as long as one, and eight an eighth: in simulated time, and on the wall
// clock as far as it can be said.
#ifndef __CUDACC__
#include <onto/onto.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "../catch.hpp"
#include "machines.hpp"

using namespace onto;
using onto_test::gpu_list;
using onto_test::machine_of;
using onto_test::timed;
namespace hana = boost::hana;

namespace {

template <class Program, class... Feeds>
double seconds_on(int gpus, const cost_model& model, const Program& program, const Feeds&... feeds) {
  session sess{timed(gpus, model)};
  sess.run(program, feeds...);
  return sess.simulated_seconds();
}

// ---- two towers -------------------------------------------------------------------------------------------

constexpr auto a = placeholder<"a", float, 64, 64>;
constexpr auto b = placeholder<"b", float, 64, 64>;

template <int N>
constexpr auto matpow(auto m) {
  if constexpr (N == 1)
    return m;
  else
    return matmul(m, matpow<N - 1>(m));
}
constexpr auto two_towers = on<cpu<0>>(add_n(on<gpu<0>>(matpow<10>(a)), on<gpu<1>>(matpow<10>(b))));

// An H200 for matrices of 64 rows that are to take as long as those of 4096: a 64th cubed of the operations, a 64th
// squared of the bytes.
constexpr cost_model small_h200{h200.flops / (64. * 64 * 64),
                                h200.memory_bandwidth / (64 * 64),
                                h200.link_bandwidth / (64 * 64),
                                h200.host_bandwidth / (64 * 64),
                                h200.host_flops / (64. * 64 * 64),
                                h200.host_memory_bandwidth / (64 * 64),
                                h200.kernel_latency,
                                h200.copy_latency};

// ---- a perceptron of three layers and its loss, a share of the batch on each GPU --------------------------

template <int Batch, int Width, int Classes, int Gpus>
constexpr auto data_parallel() {
  constexpr auto tower = [](auto place) {
    constexpr auto x = placeholder<"x", float, Batch, Width>;
    constexpr auto t = placeholder<"t", float, Batch, Classes>;
    constexpr auto w1 = variable<"w1", float, Width, Width>;
    constexpr auto w2 = variable<"w2", float, Width, Width>;
    constexpr auto w3 = variable<"w3", float, Width, Classes>;
    constexpr int rows = Batch / Gpus;
    constexpr int first = rows * place.index;
    const auto hidden = relu(matmul(relu(matmul(slice<first, first + rows>(x), w1)), w2));
    const auto error = matmul(hidden, w3) - slice<first, first + rows>(t);
    return mean(error * error);
  };
  return mean(towers(gpu_list<Gpus>, tower));
}

/// On so many GPUs, by the data sheet of an H200: a batch of 65536 rows of 4096, weights on the first GPU.
template <int Gpus>
double strong(bool on_host) {
  constexpr auto loss = data_parallel<65536, 4096, 256, Gpus>();
  if (on_host) return estimate(plan_of<machine_of<Gpus>>(on<cpu<0>>(loss)), h200).seconds;
  return estimate(plan_of<machine_of<Gpus>>(on<gpu<0>>(loss)), h200).seconds;
}

/// The same with a batch that grows with the GPUs.
template <int Gpus>
double weak() {
  constexpr auto loss = on<gpu<0>>(data_parallel<8192 * Gpus, 4096, 256, Gpus>());
  return estimate(plan_of<machine_of<Gpus>>(loss), h200).seconds;
}

/// The first with all extents a 64th, really run in a session.
template <int Gpus>
double run_small() {
  constexpr auto loss = on<gpu<0>>(data_parallel<1024, 64, 4, Gpus>());
  constexpr auto x = placeholder<"x", float, 1024, 64>;
  constexpr auto t = placeholder<"t", float, 1024, 4>;
  constexpr auto w1 = variable<"w1", float, 64, 64>;
  constexpr auto w2 = variable<"w2", float, 64, 64>;
  constexpr auto w3 = variable<"w3", float, 64, 4>;
  session sess{timed(Gpus, small_h200)};
  sess.run(fetches(on<gpu<0>>(assign(w1, zeros<float, 64, 64>())), on<gpu<0>>(assign(w2, zeros<float, 64, 64>())),
                   on<gpu<0>>(assign(w3, zeros<float, 64, 4>()))));
  tensor<float, 1024, 4> ones;
  for (float& e : ones) e = 1;
  const double before = sess.simulated_seconds();
  CHECK(sess.run(loss, x = tensor<float, 1024, 64>(), t = ones) == 1.0f);
  return sess.simulated_seconds() - before;
}

// ---- meetings ---------------------------------------------------------------------------------------------

/// Copies and kernels of one GPU that wait for each other: those that are awaited begin while those that wait go on.
struct meeting {
  static std::atomic<int>& copies() {
    static std::atomic<int> n{0};
    return n;
  }
  static std::atomic<int>& kernels() {
    static std::atomic<int> n{0};
    return n;
  }
  static bool reaches(std::atomic<int>& n, int value) {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (n < value) {
      if (std::chrono::steady_clock::now() > patience) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }
  /// Counts copies as they begin; the second does not go on before the first kernel runs.
  static void before(void*, const char* what) {
    if (std::string_view(what) != "copy") return;
    if (++copies() == 2) reaches(kernels(), 1);
  }
};

/// Runs until the next copy has begun, and gives 1 where it has.
struct until_next_copy : elementwise<> {
  static constexpr std::string_view name = "UntilNextCopy";
  template <class T>
  static T apply(T) {
    const int kernel = ++meeting::kernels();
    return T(meeting::reaches(meeting::copies(), kernel + 1));
  }
};

constexpr auto p = placeholder<"p", float>;
constexpr auto q = placeholder<"q", float>;

}  // namespace

TEST_CASE("two towers on two GPUs take half as long as on one", "[session]") {
  const tensor<float, 64, 64> zeros_of_64;
  const double one = seconds_on(1, small_h200, two_towers, a = zeros_of_64, b = zeros_of_64);
  const double two = seconds_on(2, small_h200, two_towers, a = zeros_of_64, b = zeros_of_64);
  CHECK(two <= 0.55 * one);
  CHECK(two >= 0.5 * one);
  // Four GPUs have nothing to add.
  CHECK(seconds_on(4, small_h200, two_towers, a = zeros_of_64, b = zeros_of_64) == Approx(two).epsilon(1e-12));
}

TEST_CASE("on one GPU copies run under kernels", "[session]") {
  // Each kernel has an operand of its own, and a result.
  constexpr auto sums = fetches(on<gpu<0>>(matmul(a, a)), on<gpu<0>>(matmul(b, b)), on<gpu<0>>(tanh(a)));
  const auto& plan = plan_of(sums);
  const auto t = estimate(plan, small_h200);
  double sum = 0;
  int under = 0;
  for (int k = 0; k < t.step_count; ++k) {
    sum += t.steps[k].end - t.steps[k].begin;
    for (int j = 0; j < t.step_count; ++j)
      under += t.steps[k].step.kind == step_kind::transfer && t.steps[j].step.kind == step_kind::kernel &&
               t.steps[k].begin < t.steps[j].end && t.steps[j].begin < t.steps[k].end;
  }
  INFO(t.text());
  CHECK(under >= 2);  // b comes in under the product of a, and that goes out under the product of b
  CHECK(t.seconds < 0.9 * sum);
  CHECK(sum == Approx(t.at(gpu<0>{}).busy + t.at(gpu<0>{}).copying));
  const tensor<float, 64, 64> zeros_of_64;
  CHECK(seconds_on(1, small_h200, sums, a = zeros_of_64, b = zeros_of_64) == Approx(t.seconds).epsilon(1e-12));
}

TEST_CASE("copies in and out go on while a kernel of the same GPU runs", "[session][runtime]") {
  session sess{{.simulated_gpus = 1}};
  meeting::copies() = 0;
  meeting::kernels() = 0;
  sess.inject({&meeting::before, nullptr});
  // The first kernel ends when the second operand is being copied in, the second when the first result is being copied
  // out. The copy in does not end before the kernel has begun.
  const auto [first, second] =
      sess.run(fetches(on<gpu<0>>(call<until_next_copy>(p)), on<gpu<0>>(call<until_next_copy>(q))), p = 1.0f, q = 2.0f);
  CHECK(first == 1.0f);
  CHECK(second == 1.0f);
}

TEST_CASE("a data-parallel program reaches 0.9 of the ideal on 2, 4 and 8 GPUs", "[session]") {
  for (const bool on_host : {true, false}) {
    const double one = strong<1>(on_host);
    CHECK(one / strong<2>(on_host) >= 0.9 * 2);
    CHECK(one / strong<4>(on_host) >= 0.9 * 4);
    CHECK(one / strong<8>(on_host) >= 0.9 * 8);
    CHECK(one / strong<8>(on_host) <= 8.0);
  }
  const double one = weak<1>();
  CHECK(one / weak<2>() >= 0.9);
  CHECK(one / weak<4>() >= 0.9);
  CHECK(one / weak<8>() >= 0.9);
}

TEST_CASE("the same program, run on 1, 2, 4 and 8 simulated GPUs", "[session]") {
  const double one = run_small<1>();
  CHECK(one / run_small<2>() >= 0.9 * 2);
  CHECK(one / run_small<4>() >= 0.9 * 4);
  CHECK(one / run_small<8>() >= 0.9 * 8);
  // As the large one is planned.
  CHECK(one == Approx(strong<1>(false)).epsilon(0.02));
}

TEST_CASE("eight towers, softly placed on fewer GPUs, take as many times longer", "[session]") {
  constexpr auto loss = on<cpu<0>>(data_parallel<65536, 4096, 256, 8>());
  const double eight = estimate(plan_of<machine_of<8>>(loss), h200).seconds;
  CHECK(estimate(plan_of<machine_of<4>>(loss), h200).seconds >= 0.9 * 2 * eight);
  CHECK(estimate(plan_of<machine_of<2>>(loss), h200).seconds >= 0.9 * 4 * eight);
  CHECK(estimate(plan_of<machine_of<1>>(loss), h200).seconds >= 0.9 * 8 * eight);
}

TEST_CASE("a copy that waits for one GPU does not hold up those for the others", "[session]") {
  // The weights on GPU 0 go to all others through one stream. Where the memory of GPU 1 is not free yet, GPU 3 would
  // wait too if its first weights came after the last ones of GPU 1.
  constexpr auto loss = on<cpu<0>>(data_parallel<65536, 4096, 256, 4>());
  const auto t = estimate(plan_of<machine_of<4>>(loss), h200);
  INFO(t.text());
  double first_begin[4] = {1e9, 1e9, 1e9, 1e9};
  for (int k = 0; k < t.step_count; ++k)
    if (t.steps[k].step.kind == step_kind::kernel && t.steps[k].step.at.kind == device_kind::gpu) {
      double& begin = first_begin[t.steps[k].step.at.index];
      begin = t.steps[k].begin < begin ? t.steps[k].begin : begin;
    }
  for (int d = 1; d < 4; ++d) CHECK(first_begin[d] == Approx(first_begin[0]).epsilon(0.01));
}
#endif
