// SPDX-License-Identifier: BSL-1.0
// half and bfloat16 on the GPU: conversions are those of the host, and operations agree with the CPU's within one unit
// of the last place (their functions of floats differ in the last bits before they are rounded).
#include <onto/backend/cuda/launch.hpp>
#include <onto/onto.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"

using namespace onto;
using namespace onto::detail;

namespace {

template <class T>
inline constexpr auto x = placeholder<"x", T, dyn, dyn>;
template <class T>
inline constexpr auto row = placeholder<"row", T, dyn>;

template <class T>
tensor<T, dyn, dyn> matrix(int rows, int columns) {
  tensor<T, dyn, dyn> t({rows, columns});
  std::size_t k = 0;
  for (T& v : t) v = T(2 * gpu_test::number(k++));
  return t;
}

template <class T>
bool near(T got, T expected) {
  const float a = static_cast<float>(got), b = static_cast<float>(expected);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b ||
         std::fabs(a - b) <= static_cast<float>(std::numeric_limits<T>::epsilon()) * std::fmax(std::fabs(b), 0.25f);
}

/// Runs on the GPU and on the CPU.
template <class E, class... Feeds>
void check(const char* name, const E& e, const Feeds&... feeds) {
  INFO(name);
  static session sess;
  const auto got = sess.run(on<gpu<0>>(e), feeds...);
  const auto expected = sess.run(on<cpu<0>>(e), feeds...);
  REQUIRE(got.shape() == expected.shape());
  int wrong = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (near(got.data()[k], expected.data()[k])) continue;
    if (wrong++ == 0)
      UNSCOPED_INFO("of shape " << got.shape() << ", element " << k << ": " << static_cast<float>(got.data()[k])
                                << " on the GPU, " << static_cast<float>(expected.data()[k]) << " on the CPU");
  }
  CHECK(wrong == 0);
}

template <class T>
__global__ void convert(const float* in, std::uint16_t* narrow, float* back, int count) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k >= count) return;
  const std::uint16_t bits = T(device_load(in + k)).bits();
  device_store(narrow + k, bits);
  device_store(back + k, static_cast<float>(T::from_bits(bits)));
}
template <class T>
__global__ void convert_double(const double* in, std::uint16_t* narrow, int count) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < count) device_store(narrow + k, T(device_load(in + k)).bits());
}

/// Each pattern of bits, the middle to its neighbour, and what is next to the middle.
template <class T>
void check_conversions() {
  gpu_test::bench bench;
  std::vector<float> in;
  std::vector<double> wide;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float a = T::from_bits(static_cast<std::uint16_t>(bits));
    const float b = T::from_bits(static_cast<std::uint16_t>(bits ^ 1));
    const float middle = a / 2 + b / 2;
    for (const float v : {a, middle, std::nextafter(middle, a), std::nextafter(middle, b)}) in.push_back(v);
    wide.push_back(static_cast<double>(middle) * (1 + 0x1p-45));
  }
  const int count = static_cast<int>(in.size());
  const unsigned blocks = grid_blocks((count + 255) / 256);
  const float* given = bench.upload(in);
  const double* given_wide = bench.upload(wide);
  auto* narrow = bench.reserve<std::uint16_t>(in.size());
  auto* narrow_wide = bench.reserve<std::uint16_t>(wide.size());
  auto* back = bench.reserve<float>(in.size());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  launch(nullptr, "launching a test kernel", &convert<T>, {blocks, 0, 256}, given, narrow, back, count);
  launch(nullptr, "launching a test kernel", &convert_double<T>, {256, 0, 256}, given_wide, narrow_wide,
         static_cast<int>(wide.size()));
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  const auto bits = bench.download(narrow, in.size());
  const auto bits_wide = bench.download(narrow_wide, wide.size());
  const auto floats = bench.download(back, in.size());
  int wrong = 0;
  for (std::size_t k = 0; k < in.size(); ++k) {
    const T expected(in[k]);
    if (std::isnan(in[k]))
      wrong += std::isnan(floats[k]) ? 0 : 1;
    else
      wrong += bits[k] == expected.bits() && floats[k] == static_cast<float>(expected) ? 0 : 1;
  }
  for (std::size_t k = 0; k < wide.size(); ++k)
    if (!std::isnan(wide[k])) wrong += bits_wide[k] == T(wide[k]).bits() ? 0 : 1;
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("conversions on the GPU are those of the host", "[cuda][half]") {
  check_conversions<onto::half>();
  check_conversions<bfloat16>();
}

TEMPLATE_TEST_CASE("programs over half and bfloat16 agree with the CPU's", "[cuda][half]", onto::half, bfloat16) {
  using T = TestType;
  const auto a = x<T>;
  for (const auto& in : {matrix<T>(5, 8), matrix<T>(67, 129), matrix<T>(300, 1000)}) {
    const tensor<T, dyn> r(std::vector<T>(in.data(), in.data() + in.shape()[1]));
    check("elementwise", exp(-abs(a)) * 2 + a, x<T> = in);
    check("broadcast", a * row<T> - 0.5f, x<T> = in, row<T> = r);
    check("transposed", transpose(a) * transpose(a), x<T> = in);
    check("cast", cast<T>(cast<float>(a) / 3), x<T> = in);
    check("sum", sum<0>(a * 0.125f), x<T> = in);
    check("maximum", max<1>(a), x<T> = in);
    check("place", argmax<0>(a), x<T> = in);
    check("mean", mean(a), x<T> = in);
    check("softmax", softmax(a), x<T> = in);
    check("softmax over columns", log_softmax<0>(a), x<T> = in);
    check("concat", concat<1>(a, slice<range<>, range<1, to_end, 2>>(a)), x<T> = in);
    check("product", matmul(a * 0.0625f, transpose(a)), x<T> = in);
    check("product with bias and relu", relu(matmul(transpose(a), a) * 0.03125f + row<T>), x<T> = in, row<T> = r);
    check("product of slices", matmul(slice<range<>, range<1, 4>>(a), transpose(slice<range<>, range<2, 5>>(a))),
          x<T> = in);
  }
  // A bias is added before the product is rounded, wherever rows begin.
  for (const int n : {8, 12, 16, 24, 31, 64, 100, 127, 128, 130, 132, 136, 256}) {
    const auto in = matrix<T>(72, n);
    const tensor<T, dyn> r(std::vector<T>(in.data() + 3 * n, in.data() + 4 * n));
    check("product with bias", matmul(transpose(a), a) * 0.03125f + row<T>, x<T> = in, row<T> = r);
    check("product with bias and relu", relu(matmul(transpose(a), a) * 0.03125f + row<T>), x<T> = in, row<T> = r);
  }
  check("generated", iota<T, 100>() * 0.5f + random_uniform<T, 100>(3));
}

TEST_CASE("long products and sums of half accumulate in float", "[cuda][half]") {
  session sess;
  tensor<onto::half, dyn, dyn> ones({1, 50000});
  for (auto& v : ones) v = onto::half(1);
  const auto a = x<onto::half>;
  CHECK(sess.run(on<gpu<0>>(matmul(a, transpose(a))), x<onto::half> = ones)(0, 0) ==
        49984);  // 50000 is no half: half way, to the even one
  CHECK(sess.run(on<gpu<0>>(mean(a)), x<onto::half> = ones) == 1);
}
