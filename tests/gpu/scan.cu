// SPDX-License-Identifier: BSL-1.0
// Scans on the GPU: what the CPU computes, over any axis of any view, in both directions, in sessions and prepared.
#include <onto/scan.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "catch.hpp"
#include "gpu.hpp"

using namespace onto;

namespace {

template <class T>
inline constexpr auto x = placeholder<"x", T, dyn, dyn, dyn>;
inline constexpr auto line = placeholder<"line", float, dyn>;

template <class T>
tensor<T, dyn, dyn, dyn> numbers(int a, int b, int c) {
  tensor<T, dyn, dyn, dyn> t({a, b, c});
  std::size_t k = 7;
  for (T& v : t) v = static_cast<T>(gpu_test::number(k++) * (std::is_integral_v<T> ? 50 : 1.25));
  return t;
}

/// One rounding, which the order of additions may turn.
template <class T>
bool agree(T got, T wanted) {
  if constexpr (std::is_integral_v<T>) {
    return got == wanted;
  } else {
    const auto g = static_cast<double>(got), w = static_cast<double>(wanted);
    if (g == w || (g != g && w != w)) return true;
    const double eps = sizeof(T) == 8                  ? 0x1p-51
                       : sizeof(T) == 4                ? 0x1p-22
                       : std::is_same_v<T, onto::half> ? 0x1p-9
                                                       : 0x1p-6;
    return std::fabs(g - w) <= eps * std::fabs(w) + eps * 0x1p-20;
  }
}

template <class Expression, class... Feeds>
bool same_on_gpu(session& sess, const Expression& e, const Feeds&... feeds) {
  const auto wanted = sess.run(on<cpu<0>>(e), feeds...);
  const auto got = sess.run(on<gpu<0>>(e), feeds...);
  bool same = got.shape() == wanted.shape();
  for (std::size_t k = 0; same && k < wanted.size(); ++k) same = agree(got.data()[k], wanted.data()[k]);
  return same;
}

template <class T>
void check_axes(session& sess, int a, int b, int c) {
  const auto X = numbers<T>(a, b, c);
  INFO(name_of(element_of<T>) << " (" << a << ", " << b << ", " << c << ")");
  CHECK(same_on_gpu(sess, cumsum(x<T>), x<T> = X));
  CHECK(same_on_gpu(sess, cumsum<1>(x<T>, reverse), x<T> = X));
  CHECK(same_on_gpu(sess, cumsum<0>(permute<2, 0, 1>(x<T>), reverse), x<T> = X));
  CHECK(same_on_gpu(sess, cumsum<2>(slice<range<>, range<>, range<0, to_end, 2>>(x<T>)), x<T> = X));
}

}  // namespace

TEST_CASE("a scan of each type agrees with the CPU's", "[gpu]") {
  session sess;
  check_axes<float>(sess, 3, 5, 17);
  check_axes<double>(sess, 4, 6, 5);
  check_axes<onto::half>(sess, 2, 9, 4);
  check_axes<bfloat16>(sess, 5, 2, 6);
  check_axes<std::int32_t>(sess, 3, 7, 8);
  check_axes<std::int8_t>(sess, 3, 4, 30);
  check_axes<std::uint16_t>(sess, 1, 4, 9);
  check_axes<float>(sess, 6, 1, 1);
  check_axes<float>(sess, 0, 3, 4);
  check_axes<float>(sess, 3, 0, 4);
}

TEST_CASE("products and extremes agree with the CPU's", "[gpu]") {
  session sess;
  auto X = numbers<float>(3, 5, 17);
  X(1, 2, 3) = std::numeric_limits<float>::quiet_NaN();
  X(2, 0, 5) = -std::numeric_limits<float>::infinity();
  CHECK(same_on_gpu(sess, cumprod<1>(x<float>), x<float> = X));
  CHECK(same_on_gpu(sess, cummax(x<float>), x<float> = X));
  CHECK(same_on_gpu(sess, cummin<0>(x<float>, reverse), x<float> = X));
  const auto I = numbers<std::int64_t>(4, 3, 11);
  CHECK(same_on_gpu(sess, cumprod(x<std::int64_t>, reverse), x<std::int64_t> = I));
  CHECK(same_on_gpu(sess, cummin<1>(x<std::int64_t>), x<std::int64_t> = I));
}

TEST_CASE("a scan of one row agrees with the CPU's", "[gpu]") {
  session sess;
  for (const int n : {1, 2, 7, 300}) {
    check_axes<float>(sess, 1, 1, n);
    check_axes<double>(sess, 1, n, 1);
    check_axes<onto::half>(sess, 1, 1, n);
    check_axes<std::int8_t>(sess, n, 1, 1);
    check_axes<std::uint64_t>(sess, 1, 1, n);
    auto X = numbers<float>(1, n, 1);
    if (n > 2) X(0, n / 2, 0) = std::numeric_limits<float>::quiet_NaN();
    CHECK(same_on_gpu(sess, cumprod<1>(x<float>), x<float> = X));
    CHECK(same_on_gpu(sess, cummax<1>(x<float>, reverse), x<float> = X));
    const auto D = numbers<double>(1, n, 1);
    CHECK(same_on_gpu(sess, cumsum<1>(x<double>, reverse), x<double> = D));
    CHECK(same_on_gpu(sess, cummin<1>(x<double>), x<double> = D));
  }
}

TEST_CASE("a long scan agrees with the CPU's", "[gpu]") {
  session sess;
#if defined(ONTO_CUDA_EMULATION)
  constexpr int n = 5000;
#else
  constexpr int n = 10'000'000;
#endif
  tensor<float, dyn> X({n});
  for (int k = 0; k < n; ++k) X(k) = static_cast<float>(gpu_test::number(static_cast<std::size_t>(k)) + 0.5);
  CHECK(same_on_gpu(sess, cumsum(line), line = X));
  CHECK(same_on_gpu(sess, cumsum(line, reverse), line = X));
  CHECK(same_on_gpu(sess, cumsum(slice<range<1, to_end, 3>>(line)), line = X));
  CHECK(same_on_gpu(sess, cumsum<1>(reshape<2, dyn>(line)), line = X));
}

TEST_CASE("what is scanned is computed there, and what follows uses it", "[gpu]") {
  session sess;
  const auto X = numbers<std::int32_t>(4, 6, 10);
  CHECK(same_on_gpu(sess, sum<2>(cumsum<1>(x<std::int32_t> * 2) + x<std::int32_t>), x<std::int32_t> = X));
}

TEST_CASE("a prepared scan runs again and again", "[gpu]") {
  session sess;
  constexpr auto e = on<gpu<0>>(cumsum<0>(x<float>) + 1.0_c);
  auto step = sess.prepare(e);
  for (int round = 0; round < 5; ++round) {
    tensor<float, dyn, dyn, dyn> X({3, 2, 2});
    for (float& v : X) v = static_cast<float>(round);
    const auto got = step(x<float> = X);
    CHECK(got(0, 1, 1) == static_cast<float>(round + 1));
    CHECK(got(2, 0, 1) == static_cast<float>(3 * round + 1));
  }
}

#if !defined(ONTO_CUDA_EMULATION)
TEST_CASE("an earlier error of the program's own is not the scan's", "[gpu]") {
  session sess;
  void* none = nullptr;
  CHECK(cudaMalloc(&none, ~std::size_t{0} >> 1) != cudaSuccess);
  CHECK(same_on_gpu(sess, cumsum(line), line = tensor<float, 4>{1, 2, 3, 4}));
}
#endif
