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
  using result = typename program_accumulator<bare<E>, F>::result;
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

void check_grid(const fold_grid& g, int lanes) {
  REQUIRE((g.threads() == block_threads || g.threads() == block_threads / 2));
  REQUIRE((g.depth & (g.depth - 1)) == 0);
  REQUIRE(g.blocks * g.width >= g.outputs);
  REQUIRE((g.blocks - 1) * g.width < g.outputs);
  REQUIRE(1 << g.inner_bits == g.inner_depth);
  REQUIRE(g.inner_depth <= g.depth);
  REQUIRE(g.pieces >= 1);
  REQUIRE(g.pieces <= 65535);
  REQUIRE(g.pieces % g.inner_pieces == 0);
  REQUIRE(g.inner_pieces * g.per_inner >= g.inner);
  REQUIRE(g.pieces / g.inner_pieces * g.per_outer >= g.outer);
  REQUIRE(g.per_inner <= longest_piece);
  REQUIRE((g.inner_pieces == 1 || g.per_inner % lanes == 0));
  // No piece is empty.
  if (g.inner > 0) REQUIRE((g.inner_pieces - 1) * g.per_inner < g.inner);
  if (g.outer > 0) REQUIRE((g.pieces / g.inner_pieces - 1) * g.per_outer < g.outer);
  bool taken[block_threads] = {};
  for (int t = 0; t < g.threads(); ++t) {
    const int slot = g.row(t) * g.width + g.column(t);
    REQUIRE((slot >= 0 && slot < block_threads && !taken[slot]));
    taken[slot] = true;
  }
  REQUIRE(states_of_block(g) <= block_threads);
}

}  // namespace

TEST_CASE("grids cover all outputs and elements, each thread in a place of its own", "[cuda][fold]") {
  const std::int64_t sizes[] = {1,   2,    3,    31,   32,     33,     100,      255,       256,
                                257, 1000, 8191, 8192, 100000, 300000, 10000000, 3000000000};
  for (std::int64_t outputs : sizes)
    for (std::int64_t inner : sizes)
      for (std::int64_t outer : {1, 2, 5, 1000})
        for (bool along : {true, false})
          for (int lanes : {1, 4}) {
            if (inner % lanes != 0 || (lanes > 1 && !along)) continue;
            INFO(outputs << " outputs of " << outer << " times " << inner << (along ? " along" : " across"));
            check_grid(arrange_fold(outputs, outer, inner, along, lanes), lanes);
          }
  check_grid(arrange_fold(5, 1, 0, true, 1), 1);
  check_grid(arrange_fold(5, 0, 0, true, 1), 1);
  // A leading axis: neighbouring threads read neighbouring outputs.
  const fold_grid leading = arrange_fold(4096, 1, 1000, false, 1);
  CHECK(leading.column(1) == 1);
  CHECK(leading.row(1) == 0);
  // Few outputs beside each other: the block is not left idle.
  CHECK(arrange_fold(4, 1, 1000000, false, 1).width == 4);
}

TEST_CASE("there are blocks for every multiprocessor of large GPUs", "[cuda][fold]") {
  const auto blocks = [](const fold_grid& g) { return g.blocks * g.pieces; };
  CHECK(blocks(arrange_fold(1, 1, 70000, true, 4)) >= few_blocks);
  CHECK(blocks(arrange_fold(1, 1, 100000000, true, 4)) == enough_blocks);
  CHECK(blocks(arrange_fold(8, 1, 128256, true, 4)) >= enough_blocks / 2);
  CHECK(blocks(arrange_fold(4096, 1, 4096, true, 4)) >= enough_blocks);
  CHECK(blocks(arrange_fold(4096, 1, 4096, false, 1)) >= enough_blocks * 9 / 10);
  CHECK(blocks(arrange_fold(30, 1000, 100, true, 4)) >= enough_blocks * 9 / 10);
  // A little is one launch.
  CHECK(arrange_fold(1, 1, 10000, true, 4).pieces == 1);
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

TEST_CASE("of equals the first is found, and the first NaN, wherever it is", "[cuda][fold]") {
  const auto first_greatest = [](const std::vector<float>& x) {
    std::int64_t at = 0;
    for (std::size_t k = 1; k < x.size(); ++k) {
      const float now = x[static_cast<std::size_t>(at)];
      if (now == now && (x[k] > now || x[k] != x[k])) at = static_cast<std::int64_t>(k);
    }
    return at;
  };
  const auto check = [&](const std::vector<float>& x) {
    REQUIRE(fold_all<element::float32, fold::argmax>(x) == first_greatest(x));
    std::vector<float> below(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) below[k] = -x[k];
    REQUIRE(fold_all<element::float32, fold::argmin>(below) == first_greatest(x));
  };
  for (const std::size_t n : {1u, 2u, 15u, 16u, 17u, 64u, 1000u, 4096u, 40000u, 70001u}) {
    INFO(n << " elements");
    std::vector<float> x(n, static_cast<float>(-infinity));  // as little as what nothing was found of
    check(x);
    for (std::size_t k = 0; k < n; ++k) x[k] = static_cast<float>(k);  // each more than the one before
    check(x);
    for (std::size_t k = 0; k < n; ++k) x[k] = static_cast<float>(n - k);
    check(x);
    std::uint32_t random = 1;
    for (float& v : x) v = static_cast<float>((random = random * 1664525u + 1013904223u) >> 28);  // many equals
    check(x);
    for (std::size_t k = n; k-- > 0; k /= 2) {
      x[k] = not_a_number;
      check(x);
    }
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

TEST_CASE("a reduction's workspace is at most what extents alone say", "[cuda][fold]") {
  std::int64_t largest = 0;
  for (std::int64_t outputs :
       {1, 2, 3, 7, 8, 31, 32, 33, 100, 500, 4095, 4096, 4224, 8448, 8449, 16896, 20000, 135168, 1000000})
    for (std::int64_t outer : {1, 2, 3, 64, 100, 1000, 131072})
      for (std::int64_t inner : {1, 2, 4, 8, 63, 64, 96, 128, 1000, 1024, 4096, 65536, 1 << 20, 1 << 30}) {
        const std::int64_t most = most_fold_workspace(outputs, outer * inner, 1);
        // A few numbers for each block that there may be.
        if (outer * inner <= longest_piece) REQUIRE(most <= enough_blocks * outputs_together);
        for (const bool along : {true, false})
          for (const int lanes : {1, 2, 4, 8}) {
            if (inner % lanes != 0 || (lanes > 1 && !along)) continue;
            const fold_grid g = arrange_fold(outputs, outer, inner, along, lanes);
            INFO(outputs << " of " << outer << " x " << inner << (along ? ", along" : "") << ", lanes " << lanes);
            REQUIRE((g.pieces > 1 ? g.pieces * outputs : 0) <= most);
            if (g.pieces > 1) largest = std::max(largest, g.pieces * outputs);
          }
      }
  CHECK(largest > enough_blocks * 8);
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

TEST_CASE("the place of the most extreme is found in every pack that a thread takes", "[cuda][reduce]") {
  // More than one round of packs for each thread of a block.
  std::vector<float> values(16384);
  for (std::size_t place = 3; place < values.size(); place += 509) {
    values[place] = 1;
    CHECK(fold_all<element::float32, fold::argmax>(values) == static_cast<std::int64_t>(place));
    values[place] = 0;
  }
}
