// SPDX-License-Identifier: BSL-1.0
// The GPU kernels' folds, block by block on the host.
#include <onto/ops/arithmetic.hpp>

#include <cmath>
#include <limits>

#include "calls.hpp"
#include "catch.hpp"

using namespace calls;

namespace {

template <element E>
using bare = program<instruction<load_input, E, 0>>;
using product = program<instruction<load_input, element::float32, 0>, instruction<load_input, element::float32, 1>,
                        instruction<op::mul, element::float32, 0, 1>>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Folds one operand over some axes, on what the GPU's threads would do.
template <element E, fold F>
auto folded(const std::vector<element_t<E>>& values, const operand_view& in, const extents& space,
            std::initializer_list<int> axes, std::size_t outputs) {
  using result = typename program_accumulation<bare<E>, F>::result;
  std::vector<result> out(outputs);
  const op_info op = fold_over(axes);
  operand_view view = in;
  view.data = const_cast<element_t<E>*>(values.data());
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &view;
  call.out.data = out.data();
  call.op = &op;
  reduce_on_host<bare<E>, F>(call);
  return out;
}

template <element E, fold F>
auto fold_all(const std::vector<element_t<E>>& values) {
  const extents space = shape_of({static_cast<int>(values.size())});
  return folded<E, F>(values, contiguous_view(nullptr, space), space, {}, 1)[0];
}

void check_grid(const fold_grid& g) {
  REQUIRE(g.width * g.depth == block_threads);
  REQUIRE((g.depth & (g.depth - 1)) == 0);
  REQUIRE(g.blocks * g.width >= g.outputs);
  REQUIRE((g.blocks - 1) * g.width < g.outputs);
  REQUIRE(g.pieces >= 1);
  REQUIRE(g.pieces <= 65535);
  REQUIRE(g.pieces * g.per_piece >= g.count);
  if (g.count > 0) REQUIRE((g.pieces - 1) * g.per_piece < g.count);
  bool taken[block_threads] = {};
  for (int t = 0; t < block_threads; ++t) {
    const int slot = g.row(t) * g.width + g.column(t);
    REQUIRE((slot >= 0 && slot < block_threads && !taken[slot]));
    taken[slot] = true;
  }
}

}  // namespace

TEST_CASE("grids cover all outputs and elements, each thread in a place of its own", "[cuda][fold]") {
  const std::int64_t sizes[] = {1,   2,    3,    31,   32,     33,     100,      255,       256,
                                257, 1000, 8191, 8192, 100000, 300000, 10000000, 3000000000};
  for (std::int64_t outputs : sizes)
    for (std::int64_t count : sizes)
      for (bool along : {true, false}) {
        INFO(outputs << " outputs of " << count << (along ? " along" : " across"));
        check_grid(arrange_fold(outputs, count, along, block_threads, true));
        CHECK(arrange_fold(outputs, count, along, block_threads, false).pieces == 1);
      }
  check_grid(arrange_fold(5, 0, true, block_threads, true));
  // A sum over everything is shared by the whole device.
  CHECK(arrange_fold(1, 100000000, true, block_threads, true).pieces >= 1000);
  // A leading axis: neighbouring threads read neighbouring outputs.
  const fold_grid leading = arrange_fold(4096, 1000, false, block_threads, true);
  CHECK(leading.column(1) == 1);
  CHECK(leading.row(1) == 0);
  // Few outputs beside each other: the block is not left idle.
  CHECK(arrange_fold(4, 1000000, false, block_threads, true).width == 4);
}

TEST_CASE("threads go along memory", "[cuda][fold]") {
  const extents space = shape_of({1000, 512});
  const operand_view rows[] = {view_of(nullptr, {512, 1})};
  CHECK(folds_along_memory(collapse<1>(space, 0b01u, rows), collapse<1>(space, 0b10u, rows)));
  CHECK_FALSE(folds_along_memory(collapse<1>(space, 0b10u, rows), collapse<1>(space, 0b01u, rows)));
  const operand_view transposed[] = {view_of(nullptr, {1, 1000})};
  CHECK_FALSE(folds_along_memory(collapse<1>(space, 0b01u, transposed), collapse<1>(space, 0b10u, transposed)));
  const operand_view column[] = {view_of(nullptr, {1, 0})};
  CHECK_FALSE(folds_along_memory(collapse<1>(space, 0b01u, column), collapse<1>(space, 0b10u, column)));
}

TEST_CASE("folds of one row", "[cuda][fold]") {
  CHECK(fold_all<element::int32, fold::sum>({1, 2, 3, 4}) == 10);
  CHECK(fold_all<element::int32, fold::sum>({std::numeric_limits<int>::max(), 1}) == std::numeric_limits<int>::min());
  CHECK(fold_all<element::int64, fold::prod>({3, -5, 7}) == -105);
  CHECK(fold_all<element::float32, fold::mean>({1, 2, 4}) == Approx(7.0 / 3));
  CHECK(fold_all<element::int64, fold::min>({5, -2, 9}) == -2);
  CHECK(fold_all<element::float64, fold::max>({-infinity, -infinity}) == -infinity);
  CHECK(fold_all<element::int32, fold::argmax>({1, 7, 7, 2}) == 1);
  CHECK(fold_all<element::int32, fold::argmin>({1, 0, 0, 2}) == 1);
  CHECK(std::isnan(fold_all<element::float32, fold::max>({1, not_a_number, 3})));
  CHECK(std::isnan(fold_all<element::float32, fold::min>({1, not_a_number, 3})));
  CHECK(fold_all<element::float32, fold::argmax>({1, not_a_number, 9, not_a_number}) == 1);
  CHECK(fold_all<element::float32, fold::argmin>({1, -9, not_a_number, not_a_number}) == 2);
  CHECK(fold_all<element::float64, fold::sum>({1, infinity, 2}) == infinity);
  CHECK(std::isnan(fold_all<element::float64, fold::sum>({infinity, -infinity})));
  CHECK(fold_all<element::float32, fold::sum>({3e38f, 3e38f, -3e38f}) == 3e38f);
}

TEST_CASE("folds of truth values", "[cuda][fold]") {
  const bool some[] = {false, true, false}, none[] = {false, false, false};
  const extents space = shape_of({3});
  const op_info op = fold_over({});
  for (const bool* values : {some, none}) {
    const operand_view in = contiguous_view(values, space);
    bool out = false;
    kernel_call call;
    call.space = space;
    call.inputs = 1;
    call.in = &in;
    call.out.data = &out;
    call.op = &op;
    reduce_on_host<bare<element::boolean>, fold::any>(call);
    CHECK(out == (values == some));
    reduce_on_host<bare<element::boolean>, fold::all>(call);
    CHECK_FALSE(out);
  }
}

TEST_CASE("folds of nothing", "[cuda][fold]") {
  const extents space = shape_of({3, 0});
  const operand_view in = contiguous_view(nullptr, space);
  CHECK(folded<element::float32, fold::sum>({}, in, space, {1}, 3) == std::vector<float>{0, 0, 0});
  CHECK(folded<element::int32, fold::prod>({}, in, space, {-1}, 3) == std::vector<int>{1, 1, 1});
  CHECK(std::isnan(folded<element::float64, fold::mean>({}, in, space, {}, 1)[0]));
  CHECK(cuda_reduce_workspace<bare<element::float32>, fold::sum>([&] {
          static const op_info op = fold_over({0});
          kernel_call call;
          call.space = space;
          call.inputs = 1;
          call.in = &in;
          call.op = &op;
          return call;
        }()) == 0);
}

TEST_CASE("folds over any axes of any strides", "[cuda][fold]") {
  const extents space = shape_of({5, 6, 7, 8});
  std::vector<double> values(5 * 6 * 7 * 8);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::sin(static_cast<double>(k));
  const operand_view views[] = {contiguous_view(nullptr, space), view_of(nullptr, {1, 5, 30, 210}),
                                view_of(nullptr, {7, 35, 1, 210})};
  const std::initializer_list<int> axes[] = {{0}, {1}, {3}, {0, 2}, {1, 3}, {-1, 0}, {0, 1, 2, 3}, {}};
  const int dims[] = {5, 6, 7, 8};
  for (const operand_view& view : views)
    for (const auto& list : axes) {
      bool is_folded[4] = {};
      for (int a : list) is_folded[a < 0 ? a + 4 : a] = true;
      if (list.size() == 0) is_folded[0] = is_folded[1] = is_folded[2] = is_folded[3] = true;
      std::size_t outputs = 1;
      for (int d = 0; d < 4; ++d)
        if (!is_folded[d]) outputs *= static_cast<std::size_t>(dims[d]);
      std::vector<double> expected(outputs), best(outputs, -infinity);
      std::vector<std::int64_t> where(outputs);
      int at[4];
      for (at[0] = 0; at[0] < 5; ++at[0])
        for (at[1] = 0; at[1] < 6; ++at[1])
          for (at[2] = 0; at[2] < 7; ++at[2])
            for (at[3] = 0; at[3] < 8; ++at[3]) {
              std::size_t output = 0;
              std::int64_t position = 0, offset_of = 0;
              for (int d = 0; d < 4; ++d) {
                offset_of += at[d] * view.stride[d];
                if (is_folded[d])
                  position = position * dims[d] + at[d];
                else
                  output = output * static_cast<std::size_t>(dims[d]) + static_cast<std::size_t>(at[d]);
              }
              const double x = values[static_cast<std::size_t>(offset_of)];
              expected[output] += x;
              if (x > best[output]) best[output] = x, where[output] = position;
            }
      const auto sums = folded<element::float64, fold::sum>(values, view, space, list, outputs);
      for (std::size_t k = 0; k < outputs; ++k) CHECK(sums[k] == Approx(expected[k]).margin(1e-12));
      CHECK(folded<element::float64, fold::max>(values, view, space, list, outputs) == best);
      CHECK(folded<element::float64, fold::argmax>(values, view, space, list, outputs) == where);
    }
}

TEST_CASE("long folds are shared between blocks, and as exact as promised", "[cuda][fold]") {
  const int n = 1 << 20;
  std::vector<float> values(n);
  double exact = 0;
  for (int k = 0; k < n; ++k) {
    values[static_cast<std::size_t>(k)] = 1.0f / static_cast<float>(k + 1);
    exact += static_cast<double>(values[static_cast<std::size_t>(k)]);
  }
  CHECK(fold_all<element::float32, fold::sum>(values) == static_cast<float>(exact));
  values[777777] = 5;
  CHECK(fold_all<element::float32, fold::argmax>(values) == 777777);

  std::vector<double> wide(n, 0.1);
  wide[0] = 1e16;
  wide[static_cast<std::size_t>(n - 1)] = -1e16;
  CHECK(fold_all<element::float64, fold::sum>(wide) == Approx(0.1 * (n - 2)).epsilon(1e-15));

  const extents space = shape_of({n / 4, 4});  // a leading axis over few columns
  const auto columns = folded<element::float32, fold::sum>(values, contiguous_view(nullptr, space), space, {0}, 4);
  for (std::size_t c = 0; c < 4; ++c) {
    double sum = 0;
    for (std::size_t r = 0; r < static_cast<std::size_t>(n / 4); ++r) sum += static_cast<double>(values[4 * r + c]);
    CHECK(columns[c] == static_cast<float>(sum));
  }
}

TEST_CASE("the workspace holds the partial results", "[cuda][fold]") {
  const op_info op = fold_over({});
  const extents space = shape_of({1 << 20});
  const operand_view in = contiguous_view(nullptr, space);
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &in;
  call.op = &op;
  const std::int64_t pieces = reduce_operands_of<bare<element::float32>>(call).grid.pieces;
  REQUIRE(pieces > 1);
  CHECK(cuda_reduce_workspace<bare<element::float32>, fold::sum>(call) == static_cast<std::size_t>(pieces) * 8);
  CHECK(cuda_reduce_workspace<bare<element::float64>, fold::sum>(call) == static_cast<std::size_t>(pieces) * 16);
  CHECK(cuda_reduce_workspace<bare<element::float32>, fold::argmax>(call) == static_cast<std::size_t>(pieces) * 16);
}

TEST_CASE("a program is evaluated where it is folded", "[cuda][fold]") {
  const extents space = shape_of({3, 4});
  std::vector<float> a(12), b{1, 10, 100, 1000};
  for (std::size_t k = 0; k < 12; ++k) a[k] = static_cast<float>(k);
  const operand_view in[] = {contiguous_view(a.data(), space), view_of(b.data(), {0, 1})};
  const op_info op = fold_over({1});
  float out[3];
  kernel_call call;
  call.space = space;
  call.inputs = 2;
  call.in = in;
  call.out.data = out;
  call.op = &op;
  reduce_on_host<product, fold::sum>(call);
  CHECK(out[0] == 3210);
  CHECK(out[1] == 7654);
  CHECK(out[2] == 12098);
}

namespace {

template <class T>
void check_softmax(const extents& space, const operand_view& view, const std::vector<T>& values, int axis,
                   double tolerance) {
  op_info op{op_kind::row, "Softmax", 0, {}, 1, nullptr, 2, {0, axis}};
  operand_view in = view;
  in.data = const_cast<T*>(values.data());
  std::vector<T> out(static_cast<std::size_t>(space.size()));
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &in;
  call.out.data = out.data();
  call.op = &op;
  std::int64_t stride[max_rank];
  contiguous_strides(space, stride);
  const int along = axis < 0 ? axis + space.rank : axis;
  for (bool log : {false, true}) {
    op.attribute[0] = log;
    softmax_on_host<T>(call);
    for (std::int64_t k = 0; k < space.size(); ++k) {
      // The row of element k, from the start.
      std::int64_t base_in = 0, base_out = k;
      for (int d = 0; d < space.rank; ++d) {
        const std::int64_t at = k / stride[d] % space[d];
        if (d == along)
          base_out -= at * stride[d];
        else
          base_in += at * in.stride[d];
      }
      if (base_out != k) continue;
      double maximum = -infinity, sum = 0;
      for (int r = 0; r < space[along]; ++r)
        maximum =
            std::fmax(maximum, static_cast<double>(values[static_cast<std::size_t>(base_in + r * in.stride[along])]));
      for (int r = 0; r < space[along]; ++r)
        sum +=
            std::exp(static_cast<double>(values[static_cast<std::size_t>(base_in + r * in.stride[along])]) - maximum);
      for (int r = 0; r < space[along]; ++r) {
        const double x =
            static_cast<double>(values[static_cast<std::size_t>(base_in + r * in.stride[along])]) - maximum;
        const double expected = log ? x - std::log(sum) : std::exp(x) / sum;
        CHECK(static_cast<double>(out[static_cast<std::size_t>(base_out + r * stride[along])]) ==
              Approx(expected).epsilon(tolerance).margin(log ? tolerance : 0));
      }
    }
  }
}

}  // namespace

TEST_CASE("softmax over any axis of any strides", "[cuda][softmax]") {
  const extents space = shape_of({3, 40, 5});
  std::vector<double> values(600);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = 20 * std::sin(static_cast<double>(7 * k));
  const std::vector<float> narrow(values.begin(), values.end());
  for (int axis : {0, 1, -1}) {
    check_softmax<double>(space, contiguous_view(nullptr, space), values, axis, 1e-14);
    check_softmax<double>(space, view_of(nullptr, {1, 3, 120}), values, axis, 1e-14);
    check_softmax<float>(space, contiguous_view(nullptr, space), narrow, axis, 3e-6);
  }
  check_softmax<float>(shape_of({4, 1}), view_of(nullptr, {1, 1}), {1, 2, 3, 4}, 1, 1e-7);
}

TEST_CASE("softmax of a rising row loses nothing to its many maxima", "[cuda][softmax]") {
  std::vector<float> rising(100000);
  for (std::size_t k = 0; k < rising.size(); ++k) rising[k] = static_cast<float>(k) * 1e-4f;
  auto all = softmax_accumulation<float>::empty();
  double exact = 0;
  for (float x : rising) {
    softmax_accumulation<float>::add(all, x);
    exact += std::exp(static_cast<double>(x) - static_cast<double>(rising.back()));
  }
  CHECK(all.sum.total() == Approx(exact).epsilon(1e-6));
}

TEST_CASE("infinities and NaN in a softmax", "[cuda][softmax]") {
  using operation = softmax_accumulation<float>;
  const float inf = std::numeric_limits<float>::infinity();
  const auto folded_state = [](std::initializer_list<float> row) {
    auto whole = operation::empty();
    for (float x : row) {
      auto one = operation::empty();
      operation::add(one, x);
      operation::merge(whole, one);
    }
    auto straight = operation::empty();
    for (float x : row) operation::add(straight, x);
    const bool same = whole.sum.total() == straight.sum.total() ||
                      (std::isnan(whole.sum.total()) && std::isnan(straight.sum.total()));
    CHECK(same);
    return whole;
  };
  const auto masked = folded_state({-inf, 0, -inf, 0});
  CHECK(operation::softmax(masked, -inf) == 0);
  CHECK(operation::softmax(masked, 0) == 0.5f);
  CHECK(operation::log_softmax(masked, -inf) == -inf);
  CHECK(std::isnan(operation::softmax(folded_state({-inf, -inf}), -inf)));
  CHECK(std::isnan(operation::softmax(folded_state({1, not_a_number, 2}), 1)));
  CHECK(std::isnan(operation::softmax(folded_state({not_a_number, -inf, 2}), 2)));
  CHECK(std::isnan(operation::softmax(folded_state({inf, 1}), inf)));
}
