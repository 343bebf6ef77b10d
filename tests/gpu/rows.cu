// SPDX-License-Identifier: BSL-1.0
// Row programs on a GPU beside double references: rows of all lengths, whole and split, in packs and not, over the last
// axis and over others.
#include <onto/backend/cuda/row.hpp>
#include <onto/backend/cuda/softmax.hpp>
#include <onto/core/half.hpp>

#include <cmath>
#include <limits>

#include "backend_cuda/row_programs.hpp"
#include "catch.hpp"
#include "gpu.hpp"
#include "worse.hpp"

using namespace gpu_test;
using namespace row_programs;

namespace {

// Where the element farthest below the greatest one is.
template <element E>
using farthest_program =
    row_program<1, 0, fold_phase<program<instruction<load_input, E, 0>>, fold::max, false>,
                store_fold_phase<program<instruction<load_input, E, 0>, instruction<load_scalar, E, 0>,
                                         instruction<op::sub, E, 0, 1>>,
                                 fold::argmin>>;

template <element E>
double number_of(element_t<E> x) {
  return static_cast<double>(static_cast<computed_t<E>>(x));
}
template <element E>
std::vector<element_t<E>> numbers_of(std::size_t count, std::size_t from = 0) {
  std::vector<element_t<E>> v(count);
  for (std::size_t k = 0; k < count; ++k) v[k] = element_t<E>(static_cast<computed_t<E>>(3 * number(k + from)));
  return v;
}

/// A tensor of rows along the last axis, any strides; what runs on it, and its rows as doubles.
template <element E>
class rows_on_gpu {
 public:
  using T = element_t<E>;

  rows_on_gpu(const extents& shape, const operand_view& view, std::size_t elements, std::size_t skipped = 0)
      : space(shape), values_(numbers_of<E>(elements)) {
    last_ = space.rank - 1;
    count = space[last_];
    rows = count > 0 ? space.size() / count : 0;
    T* data = b_.template reserve<T>(elements + skipped) + skipped;
    b_.write(data, values_.data(), elements);
    scales = numbers_of<E>(static_cast<std::size_t>(count), 5);
    factors = numbers_of<E>(static_cast<std::size_t>(rows), 9);
    view_ = view;
    extents outer = space;
    outer.dims[last_] = 1;
    in_[0] = view;
    in_[0].data = data;
    in_[1] = view_of(b_.upload(scales), E, {});
    in_[1].stride[last_] = 1;
    in_[2] = contiguous_view(b_.upload(factors), E, outer);
    in_[2].stride[last_] = 0;
  }

  double operator()(std::int64_t row, int column) const {
    std::int64_t stride[max_rank];
    contiguous_strides(space, stride);
    std::int64_t at = column * view_.stride[last_];
    for (int d = 0; d < last_; ++d) at += row * count / stride[d] % space[d] * view_.stride[d];
    return number_of<E>(values_[static_cast<std::size_t>(at)]);
  }

  template <class Program, class Result>
  std::vector<Result> run(std::size_t results) {
    Result* const out = b_.template reserve<Result>(results + 1);
    const std::vector<Result> untouched(results + 1, Result(77));
    b_.write(out, untouched.data(), results + 1);
    const computed_t<E> half_one(0.5);
    const std::uint64_t scalar = to_bits(half_one);
    kernel_call call;
    call.space = space;
    call.inputs = 3;
    call.in = in_;
    call.out.data = out;
    call.scalars = &scalar;
    b_.launch(static_cast<void (*)(gpu_context&, const kernel_call&)>(&cuda_row<Program>), call,
              static_cast<std::size_t (*)(const kernel_call&)>(&cuda_row_workspace<Program>));
    std::vector<Result> got = b_.download(out, results + 1);
    CHECK(got.back() == Result(77));
    got.pop_back();
    return got;
  }

  extents space;
  std::int64_t rows = 0;
  int count = 0;
  std::vector<T> scales, factors;

 private:
  bench b_;
  std::vector<T> values_;
  operand_view view_, in_[3];
  int last_ = 0;
};

template <element E>
void check_rows(const extents& space, const operand_view& view, std::size_t elements, double tolerance,
                std::size_t skipped = 0) {
  using T = element_t<E>;
  CAPTURE(space.rank, space[0], space[space.rank - 1], skipped);
  rows_on_gpu<E> x(space, view, elements, skipped);
  const int n = x.count;
  const auto size = static_cast<std::size_t>(space.size());
  const auto softmax = x.template run<softmax_program<E>, T>(size);
  const auto normal = x.template run<normal_program<E>, T>(size);
  const auto keeping = x.template run<keeping_program<E>, T>(static_cast<std::size_t>(x.rows));
  const auto farthest = x.template run<farthest_program<E>, std::int64_t>(static_cast<std::size_t>(x.rows));
  double worst[3] = {};
  bool found = true;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    std::vector<double> row(static_cast<std::size_t>(n));
    double top = -1e300, squares = 0, mean = 0, variance = 0, exponentials = 0, kept = 0, all = 0;
    std::size_t lowest = 0;
    for (int c = 0; c < n; ++c) row[static_cast<std::size_t>(c)] = x(r, c);
    for (std::size_t c = 0; c < row.size(); ++c) {
      top = std::fmax(top, row[c]);
      squares = std::fmax(squares, row[c] * row[c]);
      mean += row[c] / n;
      if (row[c] < row[lowest]) lowest = c;
    }
    for (double v : row) variance += (v - mean) * (v - mean) / n;
    for (double v : row) exponentials += std::exp(0.5 * (v - top)), kept += std::exp(v * v - squares);
    double size_of_all = 1;
    for (double v : row) {
      all += v * (v * v * std::exp(v * v - squares) + kept) / n;
      size_of_all += std::fabs(v) * (v * v + kept) / n;
    }
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::size_t k = static_cast<std::size_t>(r) * row.size() + c;
      worst[0] = worse(worst[0], std::fabs(number_of<E>(softmax[k]) - std::exp(0.5 * (row[c] - top)) / exponentials));
      if (n <= 2 || variance < 1e-12) continue;  // of equal elements
      const double expected = (row[c] - mean) / std::sqrt(variance) * number_of<E>(x.scales[c]) *
                              number_of<E>(x.factors[static_cast<std::size_t>(r)]);
      worst[1] = worse(worst[1], std::fabs(number_of<E>(normal[k]) - expected) / (8 + 8 * std::fabs(expected)));
    }
    worst[2] = worse(worst[2], std::fabs(number_of<E>(keeping[static_cast<std::size_t>(r)]) - all) / size_of_all);
    // Differences may be equal once they are rounded.
    const auto at = static_cast<std::size_t>(farthest[static_cast<std::size_t>(r)]);
    found = found && at < row.size() && std::fabs(row[at] - row[lowest]) <= tolerance * 8;
  }
  CHECK(worst[0] < tolerance);
  CHECK(worst[1] < tolerance);
  CHECK(worst[2] < tolerance);
  CHECK(found);
}

template <element E>
void check_rows(std::initializer_list<int> shape, double tolerance, std::size_t skipped = 0) {
  const extents space = shape_of(shape);
  check_rows<E>(space, contiguous_view(nullptr, E, space), static_cast<std::size_t>(space.size()), tolerance, skipped);
}

}  // namespace

TEST_CASE("rows of every length", "[cuda][rows]") {
  for (int n : {1, 2, 3, 4, 7, 8, 31, 32, 33, 64, 100, 128, 255, 256, 1000, 1024, 3000}) {
    check_rows<element::float32>({5, n}, 1e-6);
    check_rows<element::float64>({5, n}, 1e-13);
    check_rows<element::float16>({5, n}, 4e-3);
  }
  check_rows<element::float32>({1000, 12}, 1e-6);
  check_rows<element::float32>({700, 9}, 1e-6);
  check_rows<element::bfloat16>({300, 72}, 3e-2);
}

TEST_CASE("many short rows, a thread each", "[cuda][rows]") {
  constexpr int many = static_cast<int>(enough_blocks * fewest_row_threads);
  for (int n : {1, 3, 15}) check_rows<element::float32>({many, n}, 1e-5);  // some rows of nearly equal elements
  check_rows<element::float64>({many, 3}, 1e-13);
  check_rows<element::float16>({many + 5, 7}, 4e-3);
}

TEST_CASE("rows that fill registers, and rows that are a little longer", "[cuda][rows]") {
  for (int n : {4096, 8192, 8196, 16384}) check_rows<element::float32>({3, n}, 1e-6);
  for (int n : {2048, 4096, 4098}) check_rows<element::float64>({2, n}, 1e-13);
  check_rows<element::float16>({2, 16384}, 4e-3);
  check_rows<element::float32>({2500, 16}, 1e-6);
  check_rows<element::float32>({700, 132}, 1e-6);
}

TEST_CASE("rows that begin anywhere", "[cuda][rows]") {
  check_rows<element::float32>({3, 64}, 1e-6, 1);
  check_rows<element::float16>({3, 64}, 4e-3, 3);
  check_rows<element::float64>({1, 20001}, 1e-13, 1);
}

TEST_CASE("rows that are split, and rows that fill shared memory", "[cuda][rows]") {
  check_rows<element::float32>({1, 70000}, 1e-6);
  check_rows<element::float32>({1, 300001}, 1e-6);
  check_rows<element::float32>({3, 65536}, 1e-6);
  check_rows<element::float32>({80, 16390}, 1e-6);
  check_rows<element::float64>({2, 40002}, 1e-13);
  check_rows<element::float16>({2, 50257}, 4e-3);
}

namespace {

/// A softmax of split rows, of a length that shared memory would hold, had there been any.
void check_split_softmax(int rows, int n, bool many_chunks) {
  using program_type = softmax_program<element::float32>;
  const extents space = shape_of({rows, n});
  bench b;
  const std::vector<float> x = numbers<float>(static_cast<std::size_t>(space.size()));
  const operand_view in = contiguous_view(b.upload(x), element::float32, space);
  float* const out = b.reserve<float>(x.size());
  const std::uint64_t scalar = to_bits(1.0f);
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &in;
  call.out.data = out;
  call.scalars = &scalar;
  row_operands<program_type> operands = row_operands_of<program_type>(call, 1, 0);
  REQUIRE(operands.grid.split);
  const int chunk = operands.grid.steps * operands.grid.depth * row_facts<program_type>::lanes;
  CHECK((operands.grid.per_piece > 2 * chunk) == many_chunks);
  char* const workspace = b.reserve<char>(static_cast<std::size_t>(row_workspace(operands)));
  CHECK(row_workspace(operands) <= most_split_rows * (32 * operands.grid.pieces + 8 * 3));
  gpu_context context;
  cuda_check(cudaStreamCreateWithFlags(&context.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  run_split_rows(context, operands, workspace);
  cuda_check(cudaStreamSynchronize(context.stream), "cudaStreamSynchronize");
  cuda_check(cudaStreamDestroy(context.stream), "cudaStreamDestroy");
  const std::vector<float> got = b.download(out, x.size());
  double worst = 0;
  for (int r = 0; r < rows; ++r) {
    const float* const row = x.data() + std::ptrdiff_t{r} * n;
    double sum = 0;
    for (int c = 0; c < n; ++c) sum += std::exp(static_cast<double>(row[c]));
    for (int c = 0; c < n; ++c)
      worst = worse(worst, std::fabs(static_cast<double>(got[static_cast<std::size_t>(r * n + c)]) -
                                     std::exp(static_cast<double>(row[c])) / sum));
  }
  CHECK(worst < 1e-6);
}

}  // namespace

TEST_CASE("split rows, some after others", "[cuda][rows]") { check_split_softmax(most_split_rows + 100, 40, false); }

TEST_CASE("pieces of split rows in several chunks, of which the last is a part", "[cuda][rows]") {
  check_split_softmax(300, 1300, true);
}

TEST_CASE("rows of views", "[cuda][rows]") {
  // Transposed, with a gap between rows, one row for all, and of more dimensions.
  const auto check = [](std::initializer_list<int> shape, std::initializer_list<std::int64_t> strides,
                        std::size_t elements) {
    check_rows<element::float32>(shape_of(shape), view_of(nullptr, element::float32, strides), elements, 1e-6);
  };
  check({6, 40}, {1, 6}, 240);
  check({6, 40}, {48, 1}, 288);
  check({6, 40}, {41, 1}, 246);
  check({6, 40}, {0, 1}, 40);
  check({6, 40}, {80, 2}, 480);
  check({6, 40}, {1, 0}, 6);
  check({2, 3, 40}, {40, 80, 1}, 240);
  check({300, 40}, {0, 1}, 40);
  check({2, 20000}, {1, 2}, 40000);
  check_rows<element::float64>(shape_of({2, 3, 4, 10}), view_of(nullptr, element::float64, {10, 80, 20, 1}), 240,
                               1e-13);
}

TEST_CASE("rows without elements, and no rows", "[cuda][rows]") {
  check_rows<element::float32>({0, 5}, 1e-6);
  for (const int rows : {100, 300}) {  // of a block, and of two
    bench b;
    kernel_call call;
    operand_view in{};
    call.space = shape_of({rows, 0});
    call.inputs = 1;
    call.in = &in;
    const auto count = static_cast<std::size_t>(rows);
    double* const out = b.upload(std::vector<double>(count, 77));
    b.order(stream_kind::in, stream_kind::compute);
    call.out.data = out;
    using program_type = keeping_program<element::float64>;
    b.launch(static_cast<void (*)(gpu_context&, const kernel_call&)>(&cuda_row<program_type>), call,
             static_cast<std::size_t (*)(const kernel_call&)>(&cuda_row_workspace<program_type>));
    for (double v : b.download(out, count)) CHECK(std::isnan(v));
  }
}

namespace {

template <element E>
void check_softmax(std::initializer_list<int> shape, int axis, double tolerance, bool turned = false) {
  using T = element_t<E>;
  bench b;
  const extents space = shape_of(shape);
  const auto x = numbers_of<E>(static_cast<std::size_t>(space.size()));
  operand_view in = contiguous_view(b.upload(x), E, space);
  if (turned) {
    std::int64_t step = 1;
    for (int d = 0; d < space.rank; ++d) in.stride[d] = step, step *= space[d];
  }
  T* const out = b.reserve<T>(x.size());
  op_info op{op_kind::row, "Softmax", 0, {}, 1, nullptr, 2, {0, axis}};
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &in;
  call.out.data = out;
  call.op = &op;
  std::int64_t stride[max_rank];
  contiguous_strides(space, stride);
  const int along = axis < 0 ? axis + space.rank : axis;
  for (std::int64_t log : {0, 1}) {
    op.attribute[0] = log;
    b.launch(&cuda_softmax<T>, call, &cuda_softmax_workspace<T>);
    const auto got = b.download(out, x.size());
    double worst = 0;
    for (std::int64_t k = 0; k < space.size(); ++k) {
      if (k / stride[along] % space[along] != 0) continue;
      std::int64_t from = 0;
      for (int d = 0; d < space.rank; ++d) from += k / stride[d] % space[d] * in.stride[d];
      const auto at = [&](int c) { return number_of<E>(x[static_cast<std::size_t>(from + c * in.stride[along])]); };
      double top = -1e300, sum = 0;
      for (int c = 0; c < space[along]; ++c) top = std::fmax(top, at(c));
      for (int c = 0; c < space[along]; ++c) sum += std::exp(at(c) - top);
      for (int c = 0; c < space[along]; ++c) {
        const double expected = log ? at(c) - top - std::log(sum) : std::exp(at(c) - top) / sum;
        const double result = number_of<E>(got[static_cast<std::size_t>(k + c * stride[along])]);
        worst = worse(worst, std::fabs(result - expected) / (log ? 1 + std::fabs(expected) : 1));
      }
    }
    CAPTURE(space[0], axis, log, turned);
    CHECK(worst < tolerance);
  }
}

}  // namespace

TEST_CASE("softmax over any axis of any strides", "[cuda][softmax]") {
  for (int axis : {0, 1, -1}) {
    check_softmax<element::float32>({3, 40, 5}, axis, 1e-6);
    check_softmax<element::float64>({3, 40, 5}, axis, 1e-13);
    check_softmax<element::float64>({3, 40, 5}, axis, 1e-13, true);
    check_softmax<element::float16>({16, 24, 32}, axis, 4e-3);
    check_softmax<element::float32>({64, 48}, axis == 1 ? 1 : 0, 1e-6);
  }
  check_softmax<element::float32>({4, 1}, 1, 1e-6);
  check_softmax<element::float32>({1000, 3}, 0, 1e-6);
  check_softmax<element::float32>({600, 264}, 0, 1e-6);
  check_softmax<element::float32>({20000, 1}, 0, 1e-6);
  check_softmax<element::float32>({30000, 11}, 0, 1e-6);
  check_softmax<element::float32>({2, 20000, 8}, 1, 1e-6);
  check_softmax<element::float32>({9, 17000}, 1, 1e-6);
  check_softmax<element::float32>({67, 57900}, 1, 1e-6);
}

TEST_CASE("infinities and NaN in a softmax", "[cuda][softmax]") {
  constexpr float inf = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{1, -inf, 1, -inf, -inf, -inf, 1, none, 2, 1, inf, 2, none, -inf, 3};
  bench b;
  const extents space = shape_of({5, 3});
  const operand_view in = contiguous_view(b.upload(x), element::float32, space);
  float* const out = b.reserve<float>(x.size());
  const op_info op{op_kind::row, "Softmax", 0, {}, 1, nullptr, 2, {0, 1}};
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &in;
  call.out.data = out;
  call.op = &op;
  b.launch(&cuda_softmax<float>, call, &cuda_softmax_workspace<float>);
  const auto got = b.download(out, x.size());
  CHECK(got[0] == 0.5f);
  CHECK(got[1] == 0.0f);
  CHECK(got[2] == 0.5f);
  for (std::size_t k = 3; k < x.size(); ++k) {
    CAPTURE(k);
    CHECK((std::isnan(got[k]) || (k == 9 || k == 11)));
  }
}

namespace {

/// Rows along `axis` of a tensor: layer normalization, and a fold of kept values.
template <element E>
void check_along(std::initializer_list<int> shape, int axis, double tolerance) {
  using T = element_t<E>;
  const extents space = shape_of(shape);
  CAPTURE(space[0], space[space.rank - 1], axis);
  const std::int64_t n = space[axis];
  extents outside = space;
  outside.dims[axis] = 1;
  bench b;
  const auto values = numbers_of<E>(static_cast<std::size_t>(space.size()));
  const auto scales = numbers_of<E>(static_cast<std::size_t>(n), 5);
  const auto factors = numbers_of<E>(static_cast<std::size_t>(outside.size()), 9);
  operand_view in[3] = {contiguous_view(b.upload(values), E, space), view_of(b.upload(scales), E, {}),
                        contiguous_view(b.upload(factors), E, outside)};
  in[1].stride[axis] = 1;
  in[2].stride[axis] = 0;
  kernel_call call;
  call.space = space;
  call.inputs = 3;
  call.in = in;
  call.row_axis = space.rank - 1 - axis;
  const auto run = [&](auto program, std::size_t results) {
    using program_type = decltype(program);
    T* const out = b.reserve<T>(results);
    call.out.data = out;
    b.launch(static_cast<void (*)(gpu_context&, const kernel_call&)>(&cuda_row<program_type>), call,
             static_cast<std::size_t (*)(const kernel_call&)>(&cuda_row_workspace<program_type>));
    return b.download(out, results);
  };
  const auto normal = run(normal_program<E>{}, values.size());
  const auto keeping = run(keeping_program<E>{}, factors.size());
  std::int64_t stride[max_rank];
  contiguous_strides(space, stride);
  double worst[2] = {};
  for (std::size_t row = 0; row < factors.size(); ++row) {
    const auto r = static_cast<std::int64_t>(row);
    const std::int64_t from = r / stride[axis] * stride[axis] * n + r % stride[axis];
    const auto at = [&](std::int64_t k) { return static_cast<std::size_t>(from + k * stride[axis]); };
    double squares = 0, mean = 0, variance = 0, kept = 0, all = 0, size_of_all = 1;
    for (int k = 0; k < n; ++k) {
      const double v = number_of<E>(values[at(k)]);
      squares = std::fmax(squares, v * v);
      mean += v / static_cast<double>(n);
    }
    for (int k = 0; k < n; ++k) {
      const double v = number_of<E>(values[at(k)]);
      variance += (v - mean) * (v - mean) / static_cast<double>(n);
      kept += std::exp(v * v - squares);
    }
    for (int k = 0; k < n; ++k) {
      const double v = number_of<E>(values[at(k)]);
      all += v * (v * v * std::exp(v * v - squares) + kept) / static_cast<double>(n);
      size_of_all += std::fabs(v) * (v * v + kept) / static_cast<double>(n);
      if (n <= 2 || variance < 1e-12) continue;  // of equal elements
      const double expected = (v - mean) / std::sqrt(variance) * number_of<E>(scales[static_cast<std::size_t>(k)]) *
                              number_of<E>(factors[row]);
      worst[0] = worse(worst[0], std::fabs(number_of<E>(normal[at(k)]) - expected) / (8 + 8 * std::fabs(expected)));
    }
    worst[1] = worse(worst[1], std::fabs(number_of<E>(keeping[row]) - all) / size_of_all);
  }
  CHECK(worst[0] < tolerance);
  CHECK(worst[1] < tolerance);
}

}  // namespace

TEST_CASE("rows along any axis", "[cuda][rows]") {
  for (int axis : {0, 1, 2}) {
    check_along<element::float32>({5, 40, 9}, axis, 1e-6);
    check_along<element::float64>({5, 40, 9}, axis, 1e-13);
    check_along<element::float16>({16, 24, 32}, axis, 4e-3);
  }
  check_along<element::float32>({1000, 3}, 0, 1e-6);
  check_along<element::float32>({600, 264}, 0, 1e-6);
  check_along<element::float32>({20000, 1}, 0, 1e-6);
  check_along<element::float32>({30000, 11}, 0, 1e-6);  // split
  check_along<element::float32>({2, 20000, 8}, 1, 1e-6);
  check_along<element::bfloat16>({3, 72, 30}, 1, 3e-2);
}
