// SPDX-License-Identifier: BSL-1.0
// The GPU kernels' element loops on the host.
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/compare.hpp>

#include "catch.hpp"
#include "maps.hpp"

using namespace calls;

namespace {

constexpr element f32 = element::float32, f64 = element::float64, i32 = element::int32, i64 = element::int64,
                  boolean = element::boolean;

struct widen {
  static constexpr op_kind kind = op_kind::map;
  template <class T>
  ONTO_HD static double apply(T x) {
    return static_cast<double>(x);
  }
};
struct choose {
  static constexpr op_kind kind = op_kind::map;
  template <class T>
  ONTO_HD static T apply(bool c, T a, T b) {
    return c ? a : b;
  }
};
struct count {
  static constexpr op_kind kind = op_kind::generator;
  template <class T>
  ONTO_HD static T at(std::int64_t index) {
    return static_cast<T>(index);
  }
};

// (in0 + in1) * scalar0
using combination =
    program<instruction<load_input, f32, 0>, instruction<load_input, f32, 1>, instruction<op::add, f32, 0, 1>,
            instruction<load_scalar, f32, 0>, instruction<op::mul, f32, 2, 3>>;
// in1 ? double(in0) : scalar1, with an input of each width
using mixture =
    program<instruction<load_input, boolean, 1>, instruction<load_input, f32, 0>, instruction<widen, f64, 1>,
            instruction<load_scalar, f64, 1>, instruction<choose, f64, 0, 2, 3>>;
// in0 + in1 and whether in0 is the greater; the result: in0 * in1
using three_results =
    program<instruction<load_input, f32, 0>, instruction<load_input, f32, 1>, instruction<op::add, f32, 0, 1>,
            instruction<op::greater, boolean, 0, 1>, instruction<store_result, f32, 0, 2>,
            instruction<store_result, boolean, 1, 3>, instruction<op::mul, f32, 0, 1>>;
using counter = program<instruction<count, i64>>;
using identity32 = program<instruction<load_input, i32, 0>>;

template <class Program>
void map_strided_on_host(const kernel_call& call) {
  strided_on_host<Program>(layout_of<Program>(call), call.scalars);
}
template <class Program>
void map_tiled_on_host(const kernel_call& call) {
  tiled_map_on_host<Program>(layout_of<Program>(call), call.scalars);
}
/// False where the operands are not rows of aligned neighbours.
template <class Program>
bool map_coarsened_on_host(const kernel_call& call, std::uint32_t steps = 0) {
  return coarsened_map_on_host<Program>(layout_of<Program>(call), call.scalars, steps);
}

}  // namespace

TEST_CASE("a program knows its inputs and scalars", "[cuda][map]") {
  using facts = program_operands<mixture>;
  STATIC_REQUIRE(facts::inputs == 2);
  STATIC_REQUIRE(facts::scalars == 2);
  STATIC_REQUIRE(facts::found.type[0] == f32);
  STATIC_REQUIRE(facts::found.type[1] == boolean);
  STATIC_REQUIRE(facts::widest == 8);
  STATIC_REQUIRE(program_operands<counter>::inputs == 0);
  STATIC_REQUIRE(map_lanes<combination> == 4);
  STATIC_REQUIRE(map_lanes<mixture> == 2);
  STATIC_REQUIRE(sizeof(lane_pack<bool, 4>) == 4);
  STATIC_REQUIRE(alignof(lane_pack<float, 4>) == 16);
  STATIC_REQUIRE(alignof(lane_pack<double, 2>) == 16);
}

TEST_CASE("contiguous maps compute every element, and none beyond", "[cuda][map]") {
  for (int n : {2, 3, 4, 5, 8, 13, 64, 67}) {
    alignas(16) float a[72], b[72], out[72];
    for (int k = 0; k < 72; ++k) a[k] = static_cast<float>(k), b[k] = static_cast<float>(100 * k), out[k] = -1;
    const extents space = shape_of({n});
    const operand_view in[] = {contiguous_view(a, space), contiguous_view(b, space)};
    const std::uint64_t scalars[] = {bits_of(0.5f)};
    kernel_call call;
    call.space = space;
    call.inputs = 2;
    call.in = in;
    call.out.data = out;
    call.scalars = scalars;
    REQUIRE(map_coarsened_on_host<combination>(call));
    for (int k = 0; k < 72; ++k) CHECK(out[k] == (k < n ? (a[k] + b[k]) * 0.5f : -1));
  }
}

TEST_CASE("each of several results is computed, and nothing beyond", "[cuda][map]") {
  STATIC_REQUIRE(program_operands<three_results>::results == 2);
  STATIC_REQUIRE(program_operands<three_results>::found.result_type[1] == boolean);
  STATIC_REQUIRE(map_lanes<three_results> == 4);
  for (int n : {1, 2, 3, 4, 5, 8, 13, 64, 67}) {
    for (const int way : {0, 1, 2}) {
      alignas(16) float a[72], b[72], product[72];
      alignas(16) bool greater[72];
      for (int k = 0; k < 72; ++k) {
        a[k] = static_cast<float>(k);
        b[k] = static_cast<float>(k * 37 % 72);
        product[k] = -1;
        greater[k] = k % 2 == 0;
      }
      const extents space = shape_of({n});
      const operand_view in[] = {contiguous_view(a, space), contiguous_view(b, space)};
      // The sum takes the place of an operand.
      const operand_view more[] = {contiguous_view(b, space), contiguous_view(greater, space)};
      kernel_call call;
      call.space = space;
      call.inputs = 2;
      call.in = in;
      call.out.data = product;
      call.more_outputs = 2;
      call.more_out = more;
      if (way == 0 && n > 1)
        REQUIRE(map_coarsened_on_host<three_results>(call));
      else if (way < 2)
        map_tiled_on_host<three_results>(call);
      else
        map_strided_on_host<three_results>(call);
      for (int k = 0; k < 72; ++k) {
        const auto x = static_cast<float>(k), y = static_cast<float>(k * 37 % 72);
        CHECK(product[k] == (k < n ? x * y : -1));
        CHECK(b[k] == (k < n ? x + y : y));
        CHECK(greater[k] == (k < n ? x > y : k % 2 == 0));
      }
    }
  }
}

TEST_CASE("results that are not aligned are stored one by one", "[cuda][map]") {
  alignas(16) float a[8] = {}, b[8] = {}, product[8], sum[9];
  alignas(16) bool greater[8];
  const extents space = shape_of({8});
  const operand_view in[] = {contiguous_view(a, space), contiguous_view(b, space)};
  const operand_view more[] = {contiguous_view(sum + 1, space), contiguous_view(greater, space)};
  kernel_call call;
  call.space = space;
  call.inputs = 2;
  call.in = in;
  call.out.data = product;
  call.more_outputs = 2;
  call.more_out = more;
  CHECK_FALSE(map_coarsened_on_host<three_results>(call));
}

TEST_CASE("one element stands for all in a contiguous map", "[cuda][map]") {
  alignas(16) float a[6] = {1, 2, 3, 4, 5, 6}, out[6];
  const float b = 10;
  const operand_view in[] = {view_of(a, {3, 1}), view_of(&b, {0, 0})};
  const std::uint64_t scalars[] = {bits_of(2.0f)};
  kernel_call call;
  call.space = shape_of({2, 3});
  call.inputs = 2;
  call.in = in;
  call.out.data = out;
  call.scalars = scalars;
  REQUIRE(map_coarsened_on_host<combination>(call));
  for (int k = 0; k < 6; ++k) CHECK(out[k] == (a[k] + 10) * 2);
}

TEST_CASE("operands that are not rows of neighbours, or not aligned, are refused by the walk", "[cuda][map]") {
  alignas(16) float a[32] = {}, out[32];
  const std::uint64_t scalars[] = {bits_of(2.0f)};
  kernel_call call;
  call.space = shape_of({2, 4});
  call.inputs = 2;
  call.out.data = out;
  call.scalars = scalars;
  const operand_view transposed[] = {view_of(a, {1, 2}), view_of(a, {4, 1})};
  const operand_view shifted[] = {view_of(a + 1, {4, 1}), view_of(a, {4, 1})};
  const operand_view stepped[] = {view_of(a, {8, 2}), view_of(a, {4, 1})};
  for (const operand_view* in : {transposed, shifted, stepped}) {
    call.in = in;
    CHECK_FALSE(map_coarsened_on_host<combination>(call));
  }
  const operand_view good[] = {view_of(a + 4, {4, 1}), view_of(a + 3, {0, 0})};
  call.in = good;
  CHECK(map_coarsened_on_host<combination>(call));
  call.out.data = out + 1;
  CHECK_FALSE(map_coarsened_on_host<combination>(call));
}

TEST_CASE("strided maps broadcast, transpose and slice", "[cuda][map]") {
  float a[12], b[3] = {100, 200, 300}, out[12];
  for (int k = 0; k < 12; ++k) a[k] = static_cast<float>(k);
  const operand_view in[] = {view_of(a, {1, 4}), view_of(b, {0, 1})};  // a (3, 4) seen as (4, 3), plus a row
  const std::uint64_t scalars[] = {bits_of(1.0f)};
  kernel_call call;
  call.space = shape_of({4, 3});
  call.inputs = 2;
  call.in = in;
  call.out.data = out;
  call.scalars = scalars;
  SECTION("element by element") { map_strided_on_host<combination>(call); }
  SECTION("several a thread") { map_tiled_on_host<combination>(call); }
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 3; ++c) CHECK(out[3 * r + c] == a[4 * c + r] + b[c]);
}

TEST_CASE("elements of several types in one map", "[cuda][map]") {
  alignas(16) float a[5] = {1, 2, 3, 4, 5};
  alignas(16) bool c[5] = {true, false, true, true, false};
  alignas(16) double out[6] = {0, 0, 0, 0, 0, -1};
  const extents space = shape_of({5});
  const operand_view in[] = {contiguous_view(a, space), contiguous_view(c, space)};
  const std::uint64_t scalars[] = {0, bits_of(-7.5)};
  kernel_call call;
  call.space = space;
  call.inputs = 2;
  call.in = in;
  call.out.data = out;
  call.scalars = scalars;
  SECTION("contiguous") { REQUIRE(map_coarsened_on_host<mixture>(call)); }
  SECTION("strided") { map_strided_on_host<mixture>(call); }
  SECTION("turned") { map_tiled_on_host<mixture>(call); }
  for (int k = 0; k < 5; ++k) CHECK(out[k] == (c[k] ? a[k] : -7.5));
  CHECK(out[5] == -1);
}

TEST_CASE("generators are given the row-major index", "[cuda][map]") {
  alignas(16) std::int64_t out[7];
  kernel_call call;
  call.space = shape_of({7});
  call.out.data = out;
  SECTION("contiguous") { REQUIRE(map_coarsened_on_host<counter>(call)); }
  SECTION("strided") { map_strided_on_host<counter>(call); }
  SECTION("turned") { map_tiled_on_host<counter>(call); }
  for (int k = 0; k < 7; ++k) CHECK(out[k] == k);
}

TEST_CASE("a map of rank 0 computes its one element", "[cuda][map]") {
  const std::int32_t a = 42;
  alignas(16) std::int32_t out[2] = {0, -1};
  const operand_view in[] = {view_of(&a, {})};
  kernel_call call;
  call.inputs = 1;
  call.in = in;
  call.out.data = out;
  CHECK_FALSE(map_coarsened_on_host<identity32>(call));
  map_tiled_on_host<identity32>(call);
  CHECK(out[0] == 42);
  CHECK(out[1] == -1);
}

TEST_CASE("a bias is loaded once for many rows", "[cuda][map]") {
  constexpr int rows = 67, columns = 12;
  alignas(16) float a[rows * columns], b[columns], out[rows * columns + 4];
  for (int k = 0; k < rows * columns; ++k) a[k] = static_cast<float>(k), out[k] = -1;
  for (int k = 0; k < columns; ++k) b[k] = static_cast<float>(1000 * k);
  for (int k = 0; k < 4; ++k) out[rows * columns + k] = -1;
  const std::uint64_t scalars[] = {bits_of(1.0f)};
  kernel_call call;
  call.space = shape_of({rows, columns});
  call.inputs = 2;
  call.out.data = out;
  call.scalars = scalars;
  const operand_view row[] = {view_of(a, {columns, 1}), view_of(b, {0, 1})};
  const operand_view column[] = {view_of(a, {columns, 1}), view_of(a, {1, 0})};
  SECTION("along rows") {
    call.in = row;
    REQUIRE(map_coarsened_on_host<combination>(call));
    for (int k = 0; k < rows * columns; ++k) CHECK(out[k] == a[k] + b[k % columns]);
  }
  SECTION("along columns") {
    call.in = column;
    REQUIRE(map_coarsened_on_host<combination>(call));
    for (int k = 0; k < rows * columns; ++k) CHECK(out[k] == a[k] + a[k / columns]);
  }
  SECTION("in place, by threads that load more than once") {
    call.in = row;
    call.out.data = a;
    REQUIRE(map_coarsened_on_host<combination>(call, 8));
    for (int k = 0; k < rows * columns; ++k) CHECK(a[k] == static_cast<float>(k) + b[k % columns]);
  }
  for (int k = 0; k < 4; ++k) CHECK(out[rows * columns + k] == -1);
}

TEST_CASE("walks are shared among enough threads, and as long as that allows", "[cuda][map]") {
  alignas(16) float a[1];
  const auto plan = [&](std::initializer_list<int> dims, std::initializer_list<std::int64_t> x,
                        std::initializer_list<std::int64_t> y) {
    const operand_view in[] = {view_of(a, x), view_of(a, y)};
    kernel_call call;
    call.space = shape_of(dims);
    call.inputs = 2;
    call.in = in;
    call.out.data = a;
    const map_layout m = layout_of<combination>(call);
    REQUIRE(has_aligned_packs(m, 4));
    const auto map = std::make_unique<coarsened_map<combination>>();
    const std::int64_t threads = plan_coarsened_map(m, 4, coarsened_ahead<combination>, coarsened_map_ref(*map));
    return std::pair(threads, static_cast<int>(map->grid.per_thread));
  };
  constexpr int n = 4096;
  CHECK(plan({n, n}, {n, 1}, {n, 1}) == std::pair(std::int64_t{n} * n / 8, 2));  // one run
  CHECK(plan({n, n}, {n, 1}, {0, 1}) == std::pair(std::int64_t{n} / 4 * 1024, 4));
  CHECK(plan({8, 128256}, {128256, 1}, {0, 1}) == std::pair(std::int64_t{128256}, 2));
  CHECK(plan({1, 70000}, {70000, 1}, {0, 1}).first == 35 * 256);
  // Batches that share an operand: along them, though they are few.
  CHECK(plan({8, 2048, 4096}, {2048 * 4096, 4096, 1}, {0, 4096, 1}).second == 8);
}

TEST_CASE("maps too large for 32 bits are done in parts that are not", "[cuda][map]") {
  float* const a = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  struct seen {
    std::int64_t elements = 0, parts = 0, aligned = 0;
    const void* data[4][3];
    std::int64_t first[4];
  } all;
  const std::int64_t rows = 70000, columns = 40000;
  const operand_view in[] = {view_of(a, {1, rows}), view_of(a, {0, 0})};
  kernel_call call;
  call.space = shape_of({static_cast<int>(rows), static_cast<int>(columns)});
  call.inputs = 2;
  call.in = in;
  call.out.data = a;
  map_layout m = layout_of<combination>(call);
  CHECK_FALSE(is_short(m));
  for_each_short(
      m,
      [](void* job, const map_layout& part) {
        seen& s = *static_cast<seen*>(job);
        REQUIRE(is_short(part));
        if (s.parts < 4) {
          for (int k = 0; k < 3; ++k) s.data[s.parts][k] = part.data[k];
          s.first[s.parts] = part.first;
        }
        ++s.parts;
        s.elements += part.size;
        s.aligned += part.first % 4 == 0 ? 1 : 0;
      },
      &all);
  CHECK(all.elements == rows * columns);
  CHECK(all.parts == 4 * 4);
  CHECK(all.aligned == all.parts);
  for (int k = 0; k < 4; ++k) {
    const std::int64_t row = all.first[k] / columns, column = all.first[k] % columns;
    CHECK(all.data[k][0] == a + column * rows + row);
    CHECK(all.data[k][1] == a);
    CHECK(all.data[k][2] == a + all.first[k]);
  }
  CHECK(m.size == rows * columns);
  CHECK(m.data[0] == a);
}

TEST_CASE("tiles keep threads that read or write across rows out of each other's banks", "[cuda][map]") {
  for (const int bytes : {1, 2, 4, 8})
    for (int width = 0; width <= 8; ++width)
      for (int height = 10 - width > 8 ? 8 : 10 - width; height >= 9 - width && height >= 0; --height) {
        const tile_shape tile{width, height};
        INFO(bytes << " bytes, 2^" << width << " by 2^" << height);
        std::vector<bool> used(static_cast<std::size_t>(tile.elements(bytes)));
        for (int j = 0; j < 1 << height; ++j)
          for (int i = 0; i < 1 << width; ++i) {
            const auto at = static_cast<std::size_t>(tile.at(i, j, bytes));
            REQUIRE(at < used.size());
            CHECK_FALSE(used[at]);
            used[at] = true;
          }
        const int together = bytes > 4 ? 16 : 32;  // threads whose words the banks serve at a time
        for (const bool turned : {false, true})
          for (int first = 0; first < 1 << (width + height); first += together) {
            int words[32];
            for (int bank = 0; bank < 32; ++bank) words[bank] = -1;
            int conflicts = 0;
            for (int e = first; e < first + together && e < 1 << (width + height); ++e) {
              const int i = turned ? e >> height : e & ((1 << width) - 1);
              const int j = turned ? e & ((1 << height) - 1) : e >> width;
              const int from = tile.at(i, j, bytes) * bytes / 4;
              for (int word = from; word < from + (bytes + 3) / 4; ++word) {
                conflicts += words[word % 32] != -1 && words[word % 32] != word ? 1 : 0;
                words[word % 32] = word;
              }
            }
            CHECK(conflicts == 0);
          }
      }
}
