// SPDX-License-Identifier: BSL-1.0
// What a run costs beside its work: tiny programs, prepared and not, beside the same loop written by hand.
#include <benchmark/benchmark.h>

#include <onto/onto.hpp>

#include <array>

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", float, 8>;
inline constexpr auto y = placeholder<"y", float, 8>;
inline constexpr auto m = placeholder<"m", float, 4, 4>;
inline constexpr auto w = variable<"w", float, 8>;

using vector8 = tensor<float, 8>;
const vector8 a{1, 2, 3, 4, 5, 6, 7, 8}, b{8, 7, 6, 5, 4, 3, 2, 1};
const tensor<float, 4, 4> square{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 1, 2, 3}, {4, 5, 6, 7}};

/// The same work, into an array.
[[gnu::noinline]] std::array<float, 8> by_hand(const float* p, const float* q) {
  std::array<float, 8> r{};
  for (std::size_t k = 0; k < 8; ++k) r[k] = p[k] * q[k] + p[k];
  return r;
}

void loop_by_hand(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(by_hand(a.data(), b.data()));
}
BENCHMARK(loop_by_hand);

void elementwise_run(benchmark::State& state) {
  session sess;
  for (auto _ : state) benchmark::DoNotOptimize(sess.run(x * y + x, x = a, y = b));
}
BENCHMARK(elementwise_run);

void elementwise_prepared(benchmark::State& state) {
  session sess;
  const auto step = sess.prepare(x * y + x);
  for (auto _ : state) benchmark::DoNotOptimize(step(x = a, y = b));
}
BENCHMARK(elementwise_prepared);

void matmul_prepared(benchmark::State& state) {
  session sess;
  const auto step = sess.prepare(matmul(m, m));
  for (auto _ : state) benchmark::DoNotOptimize(step(m = square));
}
BENCHMARK(matmul_prepared);

void variable_prepared(benchmark::State& state) {
  session sess;
  sess.run(assign(w, zeros<float, 8>()));
  const auto step = sess.prepare(assign_add(w, x));
  for (auto _ : state) benchmark::DoNotOptimize(step(x = a));
}
BENCHMARK(variable_prepared);

void three_kernels_prepared(benchmark::State& state) {
  session sess;
  const auto step = sess.prepare(matmul(softmax(matmul(m, m)), m));
  for (auto _ : state) benchmark::DoNotOptimize(step(m = square));
}
BENCHMARK(three_kernels_prepared);

}  // namespace
