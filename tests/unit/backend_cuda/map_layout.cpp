// SPDX-License-Identifier: BSL-1.0
// How maps and copies are laid out and planned for a GPU: what of a layout is read, how it is cut, and what a block
// has.
#include "catch.hpp"
#include "maps.hpp"

using namespace calls;

namespace {

constexpr std::int64_t nowhere = std::int64_t{1} << 40;  // further than any operand of these tests reaches
constexpr std::int8_t words[] = {4, 4, 4, 4};
const void* const odd_address = reinterpret_cast<const void*>(std::uintptr_t{0x1001});

/// A layout whose every place holds what would be noticed.
map_layout strange_layout() {
  map_layout m;
  m.operands = 0;
  m.rank = 0;
  m.more = 0;
  m.bytes = words;
  m.size = 1;
  m.first = 0;
  for (std::int64_t& e : m.extent) e = nowhere;
  for (const void*& p : m.data) p = odd_address;
  for (auto& of_operand : m.stride)
    for (int d = 0; d < max_rank; ++d) of_operand[d] = nowhere + d;
  return m;
}
void append_dimension(map_layout& m, std::int64_t extent) {
  m.extent[m.rank++] = extent;
  m.size *= extent;
}
void append_operand(map_layout& m, std::initializer_list<std::int64_t> strides) {
  alignas(16) static char memory[16];
  m.data[m.operands] = memory;
  int d = 0;
  for (const std::int64_t s : strides) m.stride[m.operands][d++] = s;
  ++m.operands;
}

/// A program of so many floats, and of some bools beside.
template <int Floats, int Bools>
struct many_operands {};

}  // namespace

namespace onto::detail {

template <int Floats, int Bools>
struct program_operands<many_operands<Floats, Bools>> {
  template <int>
  using input = float;
  static constexpr int inputs = Floats + Bools, scalars = 0, results = 0, widest = 4, size = 1;
};

}  // namespace onto::detail

TEST_CASE("of a layout only its own operands and dimensions are read and changed", "[cuda][map]") {
  map_layout m = strange_layout();
  append_dimension(m, 6);
  append_dimension(m, 1);
  append_dimension(m, 5);
  append_operand(m, {5, 7, 1});
  append_operand(m, {1, 7, 6});
  CHECK(reach(m, 0) == 25);
  CHECK(reach(m, 2) == 24);
  CHECK(is_short(m));
  CHECK_FALSE(has_aligned_packs(m, 4));
  short_space<2> space;
  for (auto& of_dimension : space.stride)
    for (std::int32_t& s : of_dimension) s = -1;
  short_space_ref(space).append(m, 0b101u);
  CHECK(space.rank == 2);
  CHECK(space.stride[0][0] == 5);
  CHECK(space.stride[1][1] == 6);
  CHECK(space.stride[2][0] == -1);
  drop_ones(m);
  CHECK(m.rank == 2);
  CHECK(m.extent[1] == 5);
  CHECK(m.stride[1][1] == 6);
  CHECK(m.stride[2][1] == nowhere + 1);
  advance(m, 0, 2);
  CHECK(m.first == 2);
  CHECK(m.data[2] == odd_address);
}

TEST_CASE("words of a copy are as wide as its two operands allow", "[cuda][copy]") {
  map_layout m = strange_layout();
  append_dimension(m, 3);
  append_dimension(m, 6);
  append_operand(m, {8, 1});
  append_operand(m, {10, 1});
  widen_words(m);
  CHECK(m.bytes[0] == 8);
  CHECK(m.stride[0][0] == 4);
  CHECK(m.stride[1][0] == 5);
  CHECK(m.stride[2][0] == nowhere);
}

TEST_CASE("results that stay where they are lie in no packs", "[cuda][map]") {
  map_layout m = strange_layout();
  append_dimension(m, 8);
  append_operand(m, {0});
  append_operand(m, {1});
  CHECK(has_aligned_packs(m, 4));
  m.stride[1][0] = 0;
  CHECK_FALSE(has_aligned_packs(m, 4));
}

TEST_CASE("what is loaded decides how a map is gone through, not where its results lie", "[cuda][map]") {
  map_layout m = strange_layout();
  for (const int extent : {8, 8, 8}) append_dimension(m, extent);
  append_operand(m, {8, 0, 1});
  append_operand(m, {0, 8, 1});
  append_operand(m, {0, 8, 1});
  CHECK(coarsened_dimension(m, 4) == 0);  // as much is saved along both
  m.stride[1][0] = 64;
  CHECK(coarsened_dimension(m, 4) == 1);
  m.stride[2][1] = 1;
  CHECK(transposed_dimension(m) == -1);
  m.stride[1][1] = 1;
  CHECK(transposed_dimension(m) == 1);
}

TEST_CASE("of dimensions that reach as far the outer one is cut", "[cuda][map]") {
  struct seen {
    int parts = 0;
    std::int64_t first = 0;  // of the second part
  } all;
  map_layout m = strange_layout();
  constexpr std::int64_t n = 40000;
  append_dimension(m, n);
  append_dimension(m, n);
  append_operand(m, {1, n});
  append_operand(m, {n, 1});
  REQUIRE(reach(m, 0) == reach(m, 1));
  for_each_short(
      m,
      [](void* job, const map_layout& part) {
        seen& s = *static_cast<seen*>(job);
        if (++s.parts == 2) s.first = part.first;
      },
      &all);
  CHECK(all.parts == 4);
  CHECK(all.first == 19456);  // in the first row
}

TEST_CASE("as many operands are transposed as a block's shared memory holds, to the last byte", "[cuda][map]") {
  // 10 tiles of 32 x 33 floats and 6 of 32 x 36 bools are 48 KiB.
  constexpr int floats = 10, bools = 6, n = 64;
  std::int8_t bytes[floats + bools + 2];
  const auto plan = [&](auto& map, int operands) {
    map_layout m = strange_layout();
    m.bytes = bytes;
    append_dimension(m, n);
    append_dimension(m, n);
    for (int k = 0; k + 1 < operands; ++k) append_operand(m, {1, n});
    append_operand(m, {n, 1});
    for (int k = 0; k < operands; ++k) bytes[k] = k < floats || k + 1 == operands ? 4 : 1;
    return plan_tiled_map(m, 1024, tiled_map_ref(map)).shared;
  };
  tiled_map<many_operands<floats, bools>> full;
  CHECK(plan(full, floats + bools + 1) == tile_bytes);
  CHECK(full.space.tile_offset[floats + bools - 1] == tile_bytes - 1152);
  CHECK(full.space.tile_offset[floats + bools] == -1);
  tiled_map<many_operands<floats, bools + 1>> more;
  CHECK(plan(more, floats + bools + 2) == tile_bytes);
  CHECK(more.space.tile_offset[floats + bools] == -1);
}
