// SPDX-License-Identifier: BSL-1.0
// The GPU's row kernels, thread after thread on the host.
#include <onto/backend/cuda/row_operands.hpp>
#include <onto/core/half.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/unary.hpp>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "catch.hpp"

using namespace calls;

namespace {

/// What the blocks of `row_kernel_on_gpu` do.
template <class RowProgram>
struct host_rows;
template <int Inputs, int Scalars, class... Stages>
struct host_rows<row_program<Inputs, Scalars, Stages...>> {
  using program_type = row_program<Inputs, Scalars, Stages...>;
  using thread = row_thread_of<program_type>;

  template <int Lanes>
  static void run(const row_operands<program_type>& operands) {
    const fold_grid& grid = operands.grid;
    std::vector<char> kept(static_cast<std::size_t>(operands.kept_bytes) + 64);
    char* const aligned = kept.data() + (64 - reinterpret_cast<std::uintptr_t>(kept.data()) % 64);
    for (std::int64_t row = 0; row < grid.outputs; ++row) {
      std::vector<thread> threads(static_cast<std::size_t>(grid.depth), thread(operands));
      for (thread& t : threads) start_row(operands, t, row, aligned);
      run_stages<Lanes>(operands, threads, std::make_integer_sequence<int, sizeof...(Stages)>{});
    }
  }

 private:
  template <int Lanes, int... Number>
  static void run_stages(const row_operands<program_type>& operands, std::vector<thread>& threads,
                         std::integer_sequence<int, Number...>) {
    (run_stage<Lanes, Stages, Number>(operands, threads), ...);
  }

  template <int Lanes, class Stage, int Number>
  static void run_stage(const row_operands<program_type>& operands, std::vector<thread>& threads) {
    if constexpr (stage_of<Stage>::folds) {
      using accumulation_type = typename stage_of<Stage>::accumulation_type;
      std::vector<typename accumulation_type::state> states;
      int place = 0;
      for (thread& t : threads) states.push_back(stage_part<program_type, Stage, Number, Lanes>(operands, t, place++));
      // Within warps by halves, then over the warps.
      const std::size_t width = states.size() < 32 ? states.size() : 32;
      for (std::size_t first = 0; first < states.size(); first += width)
        for (std::size_t half = width / 2; half > 0; half /= 2)
          for (std::size_t k = 0; k < half; ++k) accumulation_type::merge(states[first + k], states[first + k + half]);
      for (std::size_t first = width; first < states.size(); first += width)
        accumulation_type::merge(states[0], states[first]);
      place = 0;
      for (thread& t : threads) stage_end<program_type, Stage, Number>(operands, t, states[0], place++, true);
    } else if constexpr (stage_of<Stage>::gives) {
      for (thread& t : threads) stage_value<program_type, Stage, Number>(t);
    } else {
      int place = 0;
      for (thread& t : threads) stage_part<program_type, Stage, Number, Lanes>(operands, t, place++);
    }
  }
};

struct launch {
  bool aligned;
  bool shared;
};

template <class RowProgram>
launch rows_on_host(const kernel_call& call) {
  const row_operands<RowProgram> operands = row_operands_of<RowProgram>(call);
  const fold_grid& g = operands.grid;
  REQUIRE(g.width * g.depth == block_threads);
  REQUIRE((g.depth & (g.depth - 1)) == 0);
  REQUIRE(g.blocks * g.width >= g.outputs);
  const bool aligned = has_aligned_rows(operands);
  if (aligned)
    host_rows<RowProgram>::template run<row_facts<RowProgram>::lanes>(operands);
  else
    host_rows<RowProgram>::template run<1>(operands);
  const std::size_t workspace = cuda_row_workspace<RowProgram>(call);
  REQUIRE((workspace == 0) == operands.is_shared());
  if (!operands.is_shared())
    REQUIRE(workspace == static_cast<std::size_t>(operands.block_bytes() *
                                                  (g.blocks < workspace_blocks ? g.blocks : workspace_blocks)));
  return {aligned, operands.is_shared()};
}

constexpr int keeps = 1, in_scalar = 0;

// softmax(x * scalar): maximum; exponentials, kept, and their sum; its inverse; product.
template <element E>
using softmax_program = row_program<
    1, 1,
    fold_stage<
        program<instruction<load_input, E, 0>, instruction<load_scalar, E, in_scalar>, instruction<op::mul, E, 0, 1>>,
        row_maximum, false>,
    fold_stage<program<instruction<load_input, E, 0>, instruction<load_scalar, E, in_scalar>,
                       instruction<op::mul, E, 0, 1>, instruction<load_scalar, E, 1>, instruction<row_exp, E, 2, 3>>,
               fold::sum, true>,
    value_stage<program<instruction<load_scalar, E, 2>, instruction<row_inverse, E, 0>>>,
    store_stage<
        program<instruction<load_input, E, keeps>, instruction<load_scalar, E, 3>, instruction<op::mul, E, 0, 1>>>>;

// Layer normalization with a scale for each column, and a factor for each row.
template <element E>
using normal_program = row_program<
    3, 0, value_stage<program<instruction<load_input, E, 2>>>,
    fold_stage<program<instruction<load_input, E, 0>>, fold::mean, false>,
    fold_stage<program<instruction<load_input, E, 0>, instruction<load_scalar, E, 1>, instruction<op::sub, E, 0, 1>,
                       instruction<op::square, E, 2>>,
               fold::mean, false>,
    value_stage<program<instruction<load_scalar, E, 2>, instruction<op::rsqrt, E, 0>>>,
    store_stage<program<instruction<load_input, E, 0>, instruction<load_scalar, E, 1>, instruction<op::sub, E, 0, 1>,
                        instruction<load_scalar, E, 3>, instruction<op::mul, E, 2, 3>, instruction<load_input, E, 1>,
                        instruction<op::mul, E, 4, 5>, instruction<load_scalar, E, 0>, instruction<op::mul, E, 6, 7>>>>;

// The sum of each row's distances from its greatest element.
template <element E>
using distance_program =
    row_program<1, 0, fold_stage<program<instruction<load_input, E, 0>>, fold::max, false>,
                store_fold_stage<program<instruction<load_input, E, 0>, instruction<load_scalar, E, 0>,
                                         instruction<op::sub, E, 0, 1>>,
                                 fold::sum>>;

double value_at(std::int64_t k) { return 3 * std::sin(static_cast<double>(k) * 1.7 + 0.3); }

template <element E>
void check_rows(const extents& space, const operand_view& view, std::size_t elements, double tolerance, bool aligned) {
  using T = element_t<E>;
  std::vector<T> storage(elements + 64), scales(static_cast<std::size_t>(space[space.rank - 1]) + 64);
  std::vector<T> factors(static_cast<std::size_t>(space.size() / space[space.rank - 1]));
  std::vector<T> stored(static_cast<std::size_t>(space.size()) + 64);
  const auto line = [](std::vector<T>& v) {
    return v.data() + (64 - reinterpret_cast<std::uintptr_t>(v.data()) % 64) % 64 / sizeof(T);
  };
  T* const values = line(storage);
  T* const scale = line(scales);
  T* const out = line(stored);
  for (std::size_t k = 0; k < elements; ++k)
    values[k] = static_cast<T>(static_cast<float>(value_at(static_cast<std::int64_t>(k))));
  const int last = space.rank - 1, n = space[last];
  for (int k = 0; k < n; ++k) scale[k] = static_cast<T>(static_cast<float>(value_at(k + 5)));
  for (std::size_t k = 0; k < factors.size(); ++k)
    factors[k] = static_cast<T>(static_cast<float>(value_at(static_cast<std::int64_t>(k) + 9)));
  extents outer = space;
  outer.dims[last] = 1;
  operand_view in[3] = {view, view_of(scale, {}), contiguous_view(factors.data(), outer)};
  in[0].data = values;
  in[1].stride[last] = 1;
  in[2].stride[last] = 0;
  const std::uint64_t scalar = bits_of(computed_t<E>(0.5));
  kernel_call call;
  call.space = space;
  call.in = in;
  call.out.data = out;
  call.scalars = &scalar;
  std::int64_t stride[max_rank];
  contiguous_strides(space, stride);
  const auto x = [&](std::int64_t row, int c) {
    std::int64_t at = c * view.stride[last], index = row * n;
    for (int d = 0; d < last; ++d) at += index / stride[d] % space[d] * view.stride[d];
    return static_cast<double>(static_cast<computed_t<E>>(values[at]));
  };
  const std::int64_t rows = space.size() / n;
  const auto number = [](T v) { return static_cast<double>(static_cast<computed_t<E>>(v)); };

  call.inputs = 1;
  CHECK(rows_on_host<softmax_program<E>>(call).aligned == aligned);
  bool right = true;
  for (std::int64_t r = 0; r < rows; ++r) {
    double m = x(r, 0), sum = 0;
    for (int c = 0; c < n; ++c) m = std::fmax(m, x(r, c));
    for (int c = 0; c < n; ++c) sum += std::exp(0.5 * (x(r, c) - m));
    for (int c = 0; c < n; ++c)
      right = right && std::fabs(number(out[r * n + c]) - std::exp(0.5 * (x(r, c) - m)) / sum) < tolerance;
  }
  CHECK(right);

  rows_on_host<distance_program<E>>(call);
  for (std::int64_t r = 0; r < rows; ++r) {
    double m = x(r, 0), sum = 0;
    for (int c = 0; c < n; ++c) m = std::fmax(m, x(r, c));
    for (int c = 0; c < n; ++c) sum += x(r, c) - m;
    right = right && std::fabs(number(out[r]) - sum) < tolerance * (1 + std::fabs(sum));
  }
  CHECK(right);

  call.inputs = 3;
  rows_on_host<normal_program<E>>(call);
  for (std::int64_t r = 0; n > 2 && r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int c = 0; c < n; ++c) mean += x(r, c) / n;
    for (int c = 0; c < n; ++c) variance += (x(r, c) - mean) * (x(r, c) - mean) / n;
    for (int c = 0; c < n; ++c) {
      const double expected =
          (x(r, c) - mean) / std::sqrt(variance) * number(scale[c]) * number(factors[static_cast<std::size_t>(r)]);
      right = right && std::fabs(number(out[r * n + c]) - expected) < 8 * tolerance * (1 + std::fabs(expected));
    }
  }
  CHECK(right);
}

}  // namespace

TEST_CASE("rows of every length on the GPU's threads", "[cuda][rows]") {
  for (int n : {1, 2, 3, 4, 7, 8, 31, 32, 33, 64, 100, 128, 255, 256, 1000, 1024, 3000}) {
    const extents space = shape_of({5, n});
    const std::size_t size = static_cast<std::size_t>(5 * n);
    check_rows<element::float32>(space, contiguous_view(nullptr, space), size, 1e-6, n % 4 == 0);
    check_rows<element::float64>(space, contiguous_view(nullptr, space), size, 1e-13, n % 2 == 0);
    check_rows<element::float16>(space, contiguous_view(nullptr, space), size, 4e-3, n % 4 == 0);
  }
}

TEST_CASE("rows of views on the GPU's threads", "[cuda][rows]") {
  // Transposed, with a gap between rows, one row for all, and of more dimensions.
  check_rows<element::float32>(shape_of({6, 40}), view_of(nullptr, {1, 6}), 240, 1e-6, false);
  check_rows<element::float32>(shape_of({6, 40}), view_of(nullptr, {48, 1}), 288, 1e-6, true);
  check_rows<element::float32>(shape_of({6, 40}), view_of(nullptr, {41, 1}), 246, 1e-6, false);
  check_rows<element::float32>(shape_of({6, 40}), view_of(nullptr, {0, 1}), 40, 1e-6, true);
  check_rows<element::float32>(shape_of({2, 3, 40}), view_of(nullptr, {40, 80, 1}), 240, 1e-6, true);
  check_rows<element::float64>(shape_of({2, 3, 4, 10}), view_of(nullptr, {10, 80, 20, 1}), 240, 1e-13, true);
}

TEST_CASE("what is kept of long rows is in the workspace", "[cuda][rows]") {
  const int n = 20000;
  std::vector<float> values(static_cast<std::size_t>(n), 1.0f), out(values.size());
  operand_view in = view_of(values.data(), {n, 1});
  const std::uint64_t scalar = bits_of(1.0f);
  kernel_call call;
  call.space = shape_of({1, n});
  call.inputs = 1;
  call.in = &in;
  call.out.data = out.data();
  call.scalars = &scalar;
  CHECK_FALSE(rows_on_host<softmax_program<element::float32>>(call).shared);
  CHECK(out[0] == Approx(1.0 / n));
  CHECK(out[19999] == Approx(1.0 / n));
  call.space = shape_of({1, 10000});
  CHECK(rows_on_host<softmax_program<element::float32>>(call).shared);
}
