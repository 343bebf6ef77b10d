// SPDX-License-Identifier: BSL-1.0
// Prepared programs on a real GPU: recorded in the second run and replayed from then on, with other feeds and with
// variables whose memory alternates; and what a replay costs beside a graph that is written by hand.
#include <onto/backend/cuda/launch.hpp>
#include <onto/onto.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "catch.hpp"

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", float, dyn>;
inline constexpr auto tiny = placeholder<"tiny", float, 8>;
inline constexpr auto row = placeholder<"row", float, 1, 8>;
inline constexpr auto w = variable<"w", float, 4>;

/// Kernels that cannot be one: each sums the rows of an outer product with the one before.
template <int N>
constexpr auto chain(auto v) {
  if constexpr (N == 0)
    return v;
  else
    return chain<N - 1>(sum<1>(reshape<8, 1>(v) * row));
}

__global__ void by_hand(const float* in, const float* factors, float* out) {
  using onto::detail::device_load;
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += device_load(in + threadIdx.x) * device_load(factors + k);
  onto::detail::device_store(out + threadIdx.x, sum);
}

void check(cudaError_t status) { REQUIRE(status == cudaSuccess); }

float* pinned_row() {
  void* p = nullptr;
  check(cudaMallocHost(&p, 32));
  return static_cast<float*>(p);
}
float* gpu_row() {
  void* p = nullptr;
  check(cudaMalloc(&p, 32));
  return static_cast<float*>(p);
}

/// Microseconds of one call, the median of many.
template <class F>
double median_us(F f) {
  std::vector<double> times;
  for (int k = 0; k < 2000; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + 1000, times.end());
  return times[1000];
}

}  // namespace

TEST_CASE("replays read the feeds of their own run and write the results of their own run", "[gpu]") {
  session sess{{.log = nullptr}};
  const auto step = sess.prepare(fetches(on<gpu<0>>(x * 2.0f), on<gpu<0>>(sum(x))));
  for (int size : {5, 100000, 5, 100000}) {  // straight copies, and staged ones
    for (int k = 0; k < 6; ++k) {
      tensor<float, dyn> t({size});
      for (int i = 0; i < size; ++i) t(i) = static_cast<float>(k + i % 3);
      const auto [twice, total] = step(x = t);
      double expected = 0;
      int wrong = 0;
      for (int i = 0; i < size; ++i) {
        expected += k + i % 3;
        wrong += twice(i) == 2 * t(i) ? 0 : 1;
      }
      CHECK(wrong == 0);
      CHECK(static_cast<float>(total) == Approx(expected));
    }
  }
}

TEST_CASE("a replayed program updates variables, and takes no memory", "[gpu]") {
  session sess{{.log = nullptr}};
  const auto weights = on<gpu<0>>(w);
  sess.run(assign(weights, ones<float, 4>()));
  const auto step = sess.prepare(assign_add(weights, ones<float, 4>()));
  for (int k = 0; k < 4; ++k) step();
  const memory_info before = sess.memory(gpu<0>{});
  for (int k = 4; k < 50; ++k) {
    const float n = static_cast<float>(k) + 2;
    CHECK(step() == tensor<float, 4>{n, n, n, n});
  }
  CHECK(sess.memory(gpu<0>{}).in_use == before.in_use);
  CHECK(sess.memory(gpu<0>{}).peak == before.peak);
  // From outside, between replays.
  sess.run(assign(weights, zeros<float, 4>()));
  CHECK(step() == tensor<float, 4>{1, 1, 1, 1});
}

// Run by name: its result is a measurement, and a busy machine is no failure of the program.
TEST_CASE("a replay costs at most 1.2 times a graph written by hand", "[.][measurement]") {
  constexpr int kernels = 20;
  constexpr auto program = on<gpu<0>>(chain<kernels>(tiny));
  static_assert(plan_of(program).kernels == kernels && plan_of(program).transfers == 3);
  tensor<float, 8> feed;
  tensor<float, 1, 8> factors;
  for (int k = 0; k < 8; ++k) feed(k) = factors(0, k) = 0.125f;

  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float *const in = pinned_row(), *const in_row = pinned_row(), *const out = pinned_row();
  float *const a = gpu_row(), *const b = gpu_row(), *const c = gpu_row();
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  check(cudaMemcpyAsync(a, in, 32, cudaMemcpyHostToDevice, stream));
  check(cudaMemcpyAsync(c, in_row, 32, cudaMemcpyHostToDevice, stream));
  for (int k = 0; k < kernels; ++k)
    onto::detail::launch(stream, "launching a test kernel", &by_hand, {1, 0, 8}, k % 2 ? b : a, c, k % 2 ? a : b);
  check(cudaMemcpyAsync(out, kernels % 2 ? b : a, 32, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  const auto replay_by_hand = [&] {
    std::copy(feed.begin(), feed.end(), in);
    std::copy(factors.begin(), factors.end(), in_row);
    check(cudaGraphLaunch(executable, stream));
    check(cudaStreamSynchronize(stream));
  };

  session sess{{.log = nullptr}};
  const auto step = sess.prepare(program);
  for (int k = 0; k < 10; ++k) {
    step(tiny = feed, row = factors);
    replay_by_hand();
  }
  // Side by side, in turns.
  double ours = 1e9, hand = 1e9;
  for (int round = 0; round < 5; ++round) {
    hand = std::min(hand, median_us(replay_by_hand));
    ours = std::min(ours, median_us([&] { (void)step(tiny = feed, row = factors); }));
  }
  std::printf("%d kernels: prepared %.2f us, by hand %.2f us, ratio %.3f\n", kernels, ours, hand, ours / hand);
  CHECK(ours <= 1.2 * hand);
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
}
