// SPDX-License-Identifier: BSL-1.0
// Elementwise kernels and copies on a GPU beside double references.
#include <onto/backend/cuda/copy.hpp>
#include <onto/backend/cuda/map.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/unary.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "catch.hpp"
#include "gpu.hpp"
#include "worse.hpp"

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

// The sum of its inputs and its index, which is a result of its own.
template <element E>
using located = program<instruction<load_input, E, 0>, instruction<load_input, E, 1>, instruction<op::add, E, 0, 1>,
                        instruction<count, E>, instruction<store_result, E, 0, 3>, instruction<op::add, E, 2, 3>>;

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

using dice = std::minstd_rand;

int below(dice& r, int n) { return static_cast<int>(r() >> 4) % n; }

/// A space of rank 1 to 5, of extents about the edges of packs, tiles and blocks.
extents random_space(dice& r) {
  const int edges[] = {1, 2, 3, 4, 5, 8, 15, 16, 31, 32, 33, 64, 65, 100, 257, 1030};
  extents e;
  const int rank = 1 + below(r, 5);
  std::int64_t size = 1;
  for (int d = 0; d < rank; ++d) {
    int extent = edges[below(r, 16)];
    while (size * extent > 20000) extent = edges[below(r, 5)] < 2 ? 1 : extent / 2 > 0 ? extent / 2 : 1;
    e.push_back(extent);
    size *= extent;
  }
  return e;
}

/// A view of memory: dimensions in any order, some broadcast, with steps, gaps or backwards, from any address.
struct random_view {
  operand_view view;
  std::int64_t start = 0;
  std::int64_t elements = 0;

  random_view(dice& r, element type, const extents& space, bool whole) {
    int order[max_rank];
    for (int d = 0; d < space.rank; ++d) order[d] = d;
    if (below(r, 3) != 0) std::shuffle(order, order + space.rank, r);
    start = below(r, 3) == 0 ? below(r, 17) : 0;
    std::int64_t next = 1;
    for (int k = space.rank - 1; k >= 0; --k) {
      const int d = order[k];
      if (!whole && below(r, 5) == 0) continue;  // broadcast
      const std::int64_t stride = next * (below(r, 8) == 0 ? 1 + below(r, 3) : 1);
      const std::int64_t reach = stride * (space[d] - 1);
      const bool backwards = below(r, 10) == 0;
      view.stride[d] = backwards ? -stride : stride;
      if (backwards) start += reach;
      elements += reach;
      next = stride * space[d] + (below(r, 4) == 0 ? below(r, 3) : 0);
    }
    view.type = type;
    elements += start + 1;
  }
  std::size_t at(const extents& space, std::int64_t index) const {
    std::int64_t where = start;
    for (int d = space.rank - 1; d >= 0; --d) {
      where += index % space[d] * view.stride[d];
      index /= space[d];
    }
    return static_cast<std::size_t>(where);
  }
};

std::string spelled(const extents& space, const operand_view& view) {
  std::string text = "extents";
  for (int d = 0; d < space.rank; ++d) text += " " + std::to_string(space[d]);
  text += ", strides";
  for (int d = 0; d < space.rank; ++d) text += " " + std::to_string(view.stride[d]);
  return text;
}

template <class T>
std::vector<T> small_numbers(std::int64_t count, dice& r) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (T& x : v) x = T(below(r, std::is_same_v<T, bool> ? 2 : 100));
  return v;
}

}  // namespace

TEST_CASE("contiguous maps", "[cuda][map]") {
  for (int n : {1, 3, 4, 1023, 1024, 1025, 2049, 300007}) {
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
      worst = worse(worst, std::fabs(static_cast<double>(result[k]) / exact - 1));
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
      worst = worse(worst, std::fabs(static_cast<double>(result[r * 300 + c]) / exact - 1));
    }
  CHECK(worst < 1e-6);
}

TEST_CASE("maps of as many dimensions as there are", "[cuda][map]") {
  bench b;
  extents space;
  operand_view backwards = view_of(nullptr, f32, {});
  for (int d = 0; d < max_rank; ++d) space.push_back(2), backwards.stride[d] = std::int64_t{1} << d;
  const auto size = static_cast<std::size_t>(space.size());
  const std::vector<float> x = numbers<float>(size), y = numbers<float>(size);
  backwards.data = b.upload(x);
  const operand_view in[] = {backwards, contiguous_view(b.upload(y), f32, space)};
  for (const auto kernel : {&cuda_map<located<f32>>, &cuda_map<located<f32>, false>}) {
    float* const out = b.reserve<float>(size);
    const operand_view more[] = {contiguous_view(b.reserve<float>(size), f32, space)};
    kernel_call call;
    call.space = space;
    call.inputs = 2;
    call.in = in;
    call.out.data = out;
    call.more_outputs = 1;
    call.more_out = more;
    b.launch(kernel, call);
    const std::vector<float> got = b.download(out, size);
    for (std::size_t k = 0; k < size; ++k) {
      std::size_t turned = 0;
      for (int d = 0; d < max_rank; ++d) turned |= (k >> d & 1) << (max_rank - 1 - d);
      CHECK(got[k] == x[turned] + y[k] + static_cast<float>(k));
    }
  }
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
  const std::vector<float> before{1, 2, 3, 4};
  float* const out = b.reserve<float>(4);
  b.write(out, before.data(), before.size());
  call.inputs = 2;
  call.in = in;
  call.out = view_of(out, f32, {0, 1});
  call.scalars = scalars;
  b.launch(&cuda_map<combination>, call);
  b.launch(&cuda_copy, call);
  b.gpu.synchronize();
  CHECK(b.download(out, 4) == before);
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

TEMPLATE_TEST_CASE("maps of any strides compute what a plain loop computes", "[cuda][map]", float, double, std::int64_t,
                   onto::half) {
  using T = TestType;
  dice r(7);
  bench b;
  for (int round = 0; round < 60; ++round) {
    const extents space = random_space(r);
    const std::int64_t size = space.size();
    random_view x(r, element_of<T>, space, false), y(r, element_of<T>, space, false);
    const auto xs = small_numbers<T>(x.elements, r), ys = small_numbers<T>(y.elements, r);
    x.view.data = b.upload(xs) + x.start;
    y.view.data = b.upload(ys) + y.start;
    const operand_view in[] = {x.view, y.view};
    const std::size_t shift = below(r, 4) == 0 ? 1 + static_cast<std::size_t>(below(r, 15)) : 0;
    const std::vector<T> marks(static_cast<std::size_t>(size) + 32, T(-7));
    T* const out = b.upload(marks);
    T* const indices = b.upload(marks);
    const operand_view more[] = {contiguous_view(indices + shift, element_of<T>, space)};
    kernel_call call;
    call.space = space;
    call.inputs = 2;
    call.in = in;
    call.out.data = out + shift;
    call.more_outputs = 1;
    call.more_out = more;
    b.launch(round % 2 == 0 ? &cuda_map<located<element_of<T>>> : &cuda_map<located<element_of<T>>, false>, call);
    const auto result = b.download(out, marks.size()), order = b.download(indices, marks.size());
    INFO(spelled(space, x.view) << " and " << spelled(space, y.view) << ", shifted by " << shift);
    std::int64_t wrong = 0;
    for (std::size_t k = 0; k < marks.size(); ++k) {
      const auto index = static_cast<std::int64_t>(k) - static_cast<std::int64_t>(shift);
      T expected = T(-7), position = T(-7);
      if (index >= 0 && index < size) {
        using number = computed_of<T>;
        position = static_cast<T>(static_cast<number>(index));
        expected = static_cast<T>(static_cast<number>(xs[x.at(space, index)]) +
                                  static_cast<number>(ys[y.at(space, index)]) + static_cast<number>(index));
      }
      wrong += result[k] == expected && order[k] == position ? 0 : 1;
    }
    REQUIRE(wrong == 0);
  }
}

TEMPLATE_TEST_CASE("copies of any strides move each element once", "[cuda][copy]", float, double, onto::half,
                   unsigned char) {
  using T = TestType;
  constexpr element type = sizeof(T) == 8 ? f64 : sizeof(T) == 4 ? f32 : sizeof(T) == 2 ? element::float16 : boolean;
  dice r(11);
  bench b;
  for (int round = 0; round < 80; ++round) {
    const extents space = random_space(r);
    random_view x(r, type, space, false), y(r, type, space, true);
    const auto xs = small_numbers<T>(x.elements, r);
    std::vector<T> ys(static_cast<std::size_t>(y.elements), T(107));
    x.view.data = b.upload(xs) + x.start;
    T* const out = b.upload(ys);
    y.view.data = out + y.start;
    kernel_call call;
    call.space = space;
    call.inputs = 1;
    call.in = &x.view;
    call.out = y.view;
    b.launch(&cuda_copy, call);
    const auto result = b.download(out, ys.size());
    for (std::int64_t k = 0; k < space.size(); ++k) ys[y.at(space, k)] = xs[x.at(space, k)];
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < ys.size(); ++k) wrong += result[k] == ys[k] ? 0 : 1;
    INFO(spelled(space, x.view) << " to " << spelled(space, y.view));
    REQUIRE(wrong == 0);
  }
}
