// SPDX-License-Identifier: BSL-1.0
// Elementwise kernels and copies on a GPU beside double references.
#include <onto/backend/cuda/copy.hpp>
#include <onto/backend/cuda/map.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/unary.hpp>

#include <cmath>

#include "catch.hpp"
#include "gpu.hpp"

using namespace gpu_test;

namespace {

constexpr element f32 = element::float32, f64 = element::float64, i64 = element::int64, boolean = element::boolean;

struct count {
  static constexpr op_kind kind = op_kind::generator;
  template <class T>
  ONTO_HD static T at(std::int64_t index) {
    return static_cast<T>(index);
  }
};
struct widen {
  static constexpr op_kind kind = op_kind::map;
  template <class T>
  ONTO_HD static double apply(T x) {
    return static_cast<double>(x);
  }
};
struct pick {
  static constexpr op_kind kind = op_kind::map;
  template <class T>
  ONTO_HD static T apply(bool c, T a, T b) {
    return c ? a : b;
  }
};

// exp((in0 + in1) * scalar0)
using combination =
    program<instruction<load_input, f32, 0>, instruction<load_input, f32, 1>, instruction<op::add, f32, 0, 1>,
            instruction<load_scalar, f32, 0>, instruction<op::mul, f32, 2, 3>, instruction<op::exp, f32, 4>>;
// in1 ? double(in0) : scalar0
using mixture = program<instruction<load_input, boolean, 1>, instruction<load_input, f32, 0>,
                        instruction<widen, f64, 1>, instruction<load_scalar, f64, 0>, instruction<pick, f64, 0, 2, 3>>;
using counter = program<instruction<count, i64>>;

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

}  // namespace

TEST_CASE("contiguous maps", "[cuda][map]") {
  for (int n : {1, 3, 4, 1023, 1024, 1025, 5000003}) {
    bench b;
    const auto count_of = static_cast<std::size_t>(n);
    const std::vector<float> x = numbers<float>(count_of), y(count_of, 0.25f);
    float* out = b.reserve<float>(count_of + 4);
    const extents space = shape_of({n});
    const operand_view in[] = {contiguous_view(b.upload(x), f32, space), contiguous_view(b.upload(y), f32, space)};
    const std::uint64_t scalars[] = {bits_of(0.5f)};
    kernel_call call;
    call.space = space;
    call.inputs = 2;
    call.in = in;
    call.out.data = out;
    call.scalars = scalars;
    const float mark[] = {-7, -7, -7, -7};
    b.write(out + n, mark, 4);
    b.launch(&cuda_map<combination>, call);
    const std::vector<float> result = b.download(out, count_of + 4);
    double worst = 0;
    for (std::size_t k = 0; k < count_of; ++k) {
      const double exact = std::exp((static_cast<double>(x[k]) + 0.25) * 0.5);
      worst = std::fmax(worst, std::fabs(static_cast<double>(result[k]) / exact - 1));
    }
    CHECK(worst < 5e-7);
    for (std::size_t k = 0; k < 4; ++k) CHECK(result[count_of + k] == -7);
  }
}

TEST_CASE("strided, broadcast and misaligned maps", "[cuda][map]") {
  bench b;
  const std::vector<float> x = numbers<float>(301 * 200), row = numbers<float>(300);
  float* out = b.reserve<float>(200 * 300);
  // x is (301, 200), seen transposed from its second row on.
  const operand_view in[] = {view_of(b.upload(x) + 200, f32, {1, 200}), view_of(b.upload(row), f32, {0, 1})};
  const std::uint64_t scalars[] = {bits_of(1.0f)};
  kernel_call call;
  call.space = shape_of({200, 300});
  call.inputs = 2;
  call.in = in;
  call.out.data = out;
  call.scalars = scalars;
  b.launch(&cuda_map<combination>, call);
  const std::vector<float> result = b.download(out, 200 * 300);
  double worst = 0;
  for (std::size_t r = 0; r < 200; ++r)
    for (std::size_t c = 0; c < 300; ++c) {
      const double exact = std::exp(static_cast<double>(x[200 + r + c * 200]) + static_cast<double>(row[c]));
      worst = std::fmax(worst, std::fabs(static_cast<double>(result[r * 300 + c]) / exact - 1));
    }
  CHECK(worst < 1e-6);
}

TEST_CASE("elements of several types, and generators", "[cuda][map]") {
  bench b;
  constexpr int n = 100001;
  const std::vector<float> x = numbers<float>(n);
  const auto c = std::make_unique<bool[]>(n);
  for (std::size_t k = 0; k < n; ++k) c[k] = x[k] > 0;
  double* out = b.reserve<double>(n);
  std::int64_t* order = b.reserve<std::int64_t>(n);
  const extents space = shape_of({n});
  const operand_view in[] = {contiguous_view(b.upload(x), f32, space),
                             contiguous_view(b.upload(c.get(), n), boolean, space)};
  const std::uint64_t scalars[] = {bits_of(-7.5)};
  kernel_call call;
  call.space = space;
  call.inputs = 2;
  call.in = in;
  call.out.data = out;
  call.scalars = scalars;
  b.launch(&cuda_map<mixture>, call);
  call.inputs = 0;
  call.out.data = order;
  b.launch(&cuda_map<counter>, call);
  const auto result = b.download(out, n);
  const auto positions = b.download(order, n);
  bool right = true;
  for (std::size_t k = 0; k < n; ++k)
    right =
        right && result[k] == (c[k] ? static_cast<double>(x[k]) : -7.5) && positions[k] == static_cast<std::int64_t>(k);
  CHECK(right);
}

TEST_CASE("maps and copies of nothing do nothing", "[cuda][map]") {
  bench b;
  kernel_call call;
  call.space = shape_of({3, 0});
  const operand_view in[] = {view_of(nullptr, f32, {0, 1}), view_of(nullptr, f32, {0, 1})};
  const std::uint64_t scalars[] = {0};
  call.inputs = 2;
  call.in = in;
  call.scalars = scalars;
  b.launch(&cuda_map<combination>, call);
  b.launch(&cuda_copy, call);
  b.gpu.synchronize();
}

TEST_CASE("strided copies", "[cuda][copy]") {
  bench b;
  const std::vector<double> x = numbers<double>(70 * 90);
  const double* data = b.upload(x);
  double* out = b.reserve<double>(90 * 100);
  const std::vector<double> zeros(90 * 100);
  b.write(out, zeros.data(), zeros.size());
  const operand_view in = view_of(data, f64, {1, 90});  // transposed
  kernel_call call;
  call.space = shape_of({90, 70});
  call.inputs = 1;
  call.in = &in;
  call.out = view_of(out + 30, f64, {100, 1});  // the right part of rows of 100
  b.launch(&cuda_copy, call);
  const auto result = b.download(out, 90 * 100);
  bool right = true;
  for (std::size_t r = 0; r < 90; ++r)
    for (std::size_t c = 0; c < 100; ++c) right = right && result[r * 100 + c] == (c < 30 ? 0 : x[(c - 30) * 90 + r]);
  CHECK(right);
}
