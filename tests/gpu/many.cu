// SPDX-License-Identifier: BSL-1.0
// Reductions and row programs of many tensors, whose code is kept short, and of tensors that do not change along what
// is folded.
#if defined(__CUDACC__)
#pragma nv_diag_suppress 128  // programs of so many tensors have no packs to go over
#endif

#include <onto/backend/cuda/reduce.hpp>
#include <onto/backend/cuda/row.hpp>
#include <onto/ops/arithmetic.hpp>

#include <cmath>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "worse.hpp"

using namespace gpu_test;

namespace {

constexpr element f32 = element::float32;

// in0 + in1 + ...
template <class Inputs, class Additions>
struct sum_program;
template <int... Input, int... Addition>
struct sum_program<std::integer_sequence<int, Input...>, std::integer_sequence<int, Addition...>> {
  static constexpr int inputs = sizeof...(Input);
  using type = program<instruction<load_input, f32, Input>...,
                       instruction<op::add, f32, (Addition == 0 ? 0 : inputs - 1 + Addition), Addition + 1>...>;
};
template <int Inputs>
using addition_of =
    typename sum_program<std::make_integer_sequence<int, Inputs>, std::make_integer_sequence<int, Inputs - 1>>::type;

/// Tensors of one shape, in memory in any order, some of them the same for all of a dimension.
struct tensors {
  tensors(const extents& shape, int count) : space(shape), views(static_cast<std::size_t>(count)) {
    for (std::size_t k = 0; k < views.size(); ++k) {
      std::int64_t step = 1;
      for (int d = 0; d < space.rank; ++d) {
        // The last dimension is the nearest in the first of them, and in others another one.
        const int dimension = (space.rank - 1 - d + static_cast<int>(k / 3)) % space.rank;
        views[k].type = f32;
        if (k % 5 == 4 && d == 1) continue;
        views[k].stride[dimension] = step;
        step *= space[dimension];
      }
      values.push_back(numbers<float>(static_cast<std::size_t>(step)));
      for (float& v : values.back()) v += static_cast<float>(k) / 8;
      views[k].data = b.upload(values.back());
    }
  }
  double at(std::size_t k, const int* index) const {
    std::int64_t where = 0;
    for (int d = 0; d < space.rank; ++d) where += index[d] * views[k].stride[d];
    return static_cast<double>(values[k][static_cast<std::size_t>(where)]);
  }
  double sum_at(const int* index) const {
    double sum = 0;
    for (std::size_t k = 0; k < views.size(); ++k) sum += at(k, index);
    return sum;
  }
  kernel_call call(void* out) const {
    kernel_call c;
    c.space = space;
    c.inputs = static_cast<int>(views.size());
    c.in = views.data();
    c.out.data = out;
    return c;
  }

  extents space;
  bench b;
  std::vector<operand_view> views;
  std::vector<std::vector<float>> values;
};

op_info fold_over(std::initializer_list<int> axes) {
  op_info o{op_kind::reduce, "Sum", 0, {}, 1, nullptr, 0, {}};
  o.attribute[2] = static_cast<std::int64_t>(axes.size());
  o.attributes = 3;
  for (int a : axes) o.attribute[o.attributes++] = a;
  return o;
}

}  // namespace

TEST_CASE("folds over the sum of many tensors", "[cuda][reduce]") {
  constexpr int inputs = 19, dims[] = {7, 6, 5, 9};
  tensors t(shape_of({7, 6, 5, 9}), inputs);
  for (const auto& axes : {std::vector<int>{0, 2}, {1, 3}, {3}, {0}}) {
    bool folded[4] = {};
    for (const int a : axes) folded[a] = true;
    op_info op = fold_over({});
    op.attribute[2] = static_cast<std::int64_t>(axes.size());
    for (const int a : axes) op.attribute[op.attributes++] = a;
    std::vector<double> expected;
    for (int d = 0, outputs = 1; d < 4; ++d) {
      if (!folded[d]) outputs *= dims[d];
      expected.assign(static_cast<std::size_t>(outputs), 0.0);
    }
    for (int k = 0; k < 7 * 6 * 5 * 9; ++k) {
      int rest = k, index[4], output = 0;
      for (int d = 3; d >= 0; --d) index[d] = rest % dims[d], rest /= dims[d];
      for (int d = 0; d < 4; ++d)
        if (!folded[d]) output = output * dims[d] + index[d];
      expected[static_cast<std::size_t>(output)] += t.sum_at(index);
    }
    float* const out = t.b.reserve<float>(expected.size());
    kernel_call call = t.call(out);
    call.op = &op;
    t.b.launch(&cuda_reduce<addition_of<inputs>, fold::sum>, call,
               &cuda_reduce_workspace<addition_of<inputs>, fold::sum>);
    const std::vector<float> got = t.b.download(out, expected.size());
    double worst = 0;
    for (std::size_t k = 0; k < got.size(); ++k)
      worst = worse(worst, std::fabs(static_cast<double>(got[k]) - expected[k]) / (1 + std::fabs(expected[k])));
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("folds in packs, of a tensor with one that does not change along it", "[cuda][reduce]") {
  using product =
      program<instruction<load_input, f32, 0>, instruction<load_input, f32, 1>, instruction<op::mul, f32, 0, 1>>;
  bench b;
  constexpr std::size_t rows = 40;
  for (const int columns : {64, 4, 2000}) {
    const auto count = static_cast<std::size_t>(columns);
    const std::vector<float> x = numbers<float>(rows * count), y = numbers<float>(rows + 1);
    const operand_view in[] = {view_of(b.upload(x), f32, {columns, 1}), view_of(b.upload(y) + 1, f32, {1, 0})};
    float* const out = b.reserve<float>(rows);
    const op_info op = fold_over({1});
    kernel_call call;
    call.space = shape_of({rows, columns});
    call.inputs = 2;
    call.in = in;
    call.out.data = out;
    call.op = &op;
    CHECK(reduce_operands_of<product>(call).packed);
    b.launch(&cuda_reduce<product, fold::sum>, call, &cuda_reduce_workspace<product, fold::sum>);
    const std::vector<float> got = b.download(out, rows);
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < count; ++c)
        sum += static_cast<double>(x[r * count + c]) * static_cast<double>(y[r + 1]);
      CHECK(std::fabs(static_cast<double>(got[r]) - sum) < 1e-4);
    }
  }
}

TEST_CASE("folds in packs, of nothing", "[cuda][reduce]") {
  using product =
      program<instruction<load_input, f32, 0>, instruction<load_input, f32, 1>, instruction<op::mul, f32, 0, 1>>;
  bench b;
  const operand_view in[] = {view_of(nullptr, f32, {0, 1}), view_of(nullptr, f32, {1, 0})};
  float* const out = b.upload(std::vector<float>(4, 7));
  const op_info op = fold_over({1});
  kernel_call call;
  call.space = shape_of({4, 0});
  call.inputs = 2;
  call.in = in;
  call.out.data = out;
  call.op = &op;
  CHECK(reduce_operands_of<product>(call).packed);
  b.launch(&cuda_reduce<product, fold::sum>, call, &cuda_reduce_workspace<product, fold::sum>);
  CHECK(b.download(out, 4) == std::vector<float>(4));
}

TEST_CASE("rows of many tensors, more than are kept in shared memory", "[cuda][rows]") {
  constexpr int inputs = 18;
  using program_type =
      row_program<inputs, 0, fold_phase<addition_of<inputs>, fold::max, false>,
                  store_phase<program<instruction<load_input, f32, 0>, instruction<load_input, f32, inputs - 1>,
                                      instruction<op::add, f32, 0, 1>, instruction<load_scalar, f32, 0>,
                                      instruction<op::sub, f32, 2, 3>>>>;
  const auto check = [](const extents& space, const tensors& given, bench& b) {
    std::vector<double> expected;
    int index[3];
    for (index[0] = 0; index[0] < space[0]; ++index[0])
      for (index[1] = 0; index[1] < space[1]; ++index[1]) {
        double top = -1e300;
        for (index[2] = 0; index[2] < space[2]; ++index[2]) top = std::fmax(top, given.sum_at(index));
        for (index[2] = 0; index[2] < space[2]; ++index[2])
          expected.push_back(given.at(0, index) + given.at(inputs - 1, index) - top);
      }
    float* const out = b.reserve<float>(expected.size());
    b.launch(static_cast<void (*)(gpu_context&, const kernel_call&)>(&cuda_row<program_type>), given.call(out),
             static_cast<std::size_t (*)(const kernel_call&)>(&cuda_row_workspace<program_type>));
    const std::vector<float> got = b.download(out, expected.size());
    double worst = 0;
    for (std::size_t k = 0; k < got.size(); ++k)
      worst = worse(worst, std::fabs(static_cast<double>(got[k]) - expected[k]));
    CHECK(worst < 2e-5);
  };
  for (const int count : {40, 44, 101}) {
    const extents space = shape_of({3, 5, count});
    tensors anyhow(space, inputs), packed(space, inputs);
    check(space, anyhow, anyhow.b);
    // All as they lie, so that packs are read.
    packed.values.clear();
    for (operand_view& v : packed.views) {
      packed.values.push_back(numbers<float>(static_cast<std::size_t>(space.size())));
      for (float& x : packed.values.back()) x += static_cast<float>(packed.values.size()) / 8;
      v = contiguous_view(packed.b.upload(packed.values.back()), f32, space);
    }
    check(space, packed, packed.b);
  }
}
