// SPDX-License-Identifier: BSL-1.0
// Strided layouts: what is joined, and the law over random layouts.
#include <onto/kernel/layout.hpp>

using namespace onto;
using namespace onto::detail;

namespace {

struct operand {
  std::int64_t stride[max_rank]{};
};
constexpr strided_layout<1> coalesced(const extents& space, const operand& a) {
  const std::int64_t* const strides[] = {a.stride};
  return coalesce(space, strides);
}
constexpr strided_layout<2> coalesced(const extents& space, const operand& a, const operand& b) {
  const std::int64_t* const strides[] = {a.stride, b.stride};
  return coalesce(space, strides);
}

// ---- what is joined ---------------------------------------------------------------------------------------

constexpr extents cube = shape<2, 3, 4>{};

// Elements next to each other are one dimension, and so is one element that is repeated.
static_assert(coalesced(cube, {{12, 4, 1}}).rank == 1 && coalesced(cube, {{12, 4, 1}}).extent[0] == 24);
static_assert(coalesced(cube, {{0, 0, 0}}).rank == 1 && coalesced(cube, {{0, 0, 0}}).stride[0][0] == 0);
// A transpose, and a row that is repeated, join what lies beside it.
static_assert(coalesced(cube, {{1, 8, 2}}).rank == 2 && coalesced(cube, {{1, 8, 2}}).extent[1] == 12);
static_assert(coalesced(cube, {{0, 4, 1}}).rank == 2 && coalesced(cube, {{0, 4, 1}}).stride[0][1] == 1);
// Every operand must allow it.
static_assert(coalesced(cube, {{12, 4, 1}}, {{0, 0, 1}}).rank == 2);
static_assert(coalesced(cube, {{12, 4, 1}}, {{0, 0, 1}}).extent[0] == 6);
// Extents of 1 go away, whatever their stride; where nothing else is, one of stride 1 stays.
static_assert(coalesced(shape<2, 1, 3>{}, {{3, 99, 1}}).rank == 1 && coalesced(shape<1, 1>{}, {{5, 7}}).rank == 1);
static_assert(coalesced(shape<1, 1>{}, {{5, 7}}).stride[0][0] == 1 && coalesced(shape<>{}, {}).extent[0] == 1);
static_assert(coalesced(shape<1, 1>{}, {{5, 7}}).size() == 1 && coalesced(shape<>{}, {}).size() == 1);
// A space without elements keeps none.
static_assert(coalesced(shape<2, 0, 3>{}, {{0, 3, 1}}).size() == 0);
// What lies next to each other: one dimension of stride 1, whatever the stride of an extent of 1.
static_assert(is_contiguous(cube, operand{{12, 4, 1}}.stride) && is_contiguous(shape<2, 1>{}, operand{{1, 9}}.stride));
static_assert(!is_contiguous(cube, operand{{12, 4, 2}}.stride) && !is_contiguous(cube, operand{{0, 4, 1}}.stride));
// A part of the dimensions: the first and the last, between which one was left out.
static_assert(joined_dimensions(cube, operand{{4, 99, 1}}.stride, 0b101) == 0b100);
static_assert(coalesce(cube, 0b100, 0b101).rank == 1 && coalesce(cube, 0b100, 0b101).extent[0] == 8);
static_assert(coalesce(cube, 0b100, 0b101).dimension[0] == 2 && coalesce(cube, 0, 0b101).rank == 2);
static_assert(coalesce(shape<1, 1>{}, 0, 0b11).rank == 0);

// ---- an index in a space ----------------------------------------------------------------------------------

constexpr std::int64_t located(const coalesced_space& c, const operand& a, std::int64_t index) {
  std::int64_t at[max_rank]{};
  c.locate(index, at);
  return c.offset_of(at, a.stride);
}
static_assert(located(coalesce(cube, 0b010, 0b111), {{30, 10, 1}}, 23) == 53);
static_assert(located(coalesce(shape<1>{}, 0, 1), {{7}}, 0) == 0);

// ---- random layouts ---------------------------------------------------------------------------------------

struct generator {
  std::uint32_t state;
  constexpr int below(int n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 16) % static_cast<std::uint32_t>(n));
  }
};

template <int Operands>
struct example {
  extents space;
  std::int64_t stride[Operands][max_rank]{};
};

/// Up to five extents of 1 to 3. Strides are those of elements next to each other in some order, repeated, reversed or
/// apart.
template <int Operands>
constexpr example<Operands> random_example(generator& g) {
  example<Operands> e;
  const int rank = g.below(6);
  for (int k = 0; k < rank; ++k) e.space.push_back(g.below(8) == 0 ? 1 : 1 + g.below(3));
  for (auto& stride : e.stride) {
    std::int64_t step = 1;
    for (int k = rank - 1; k >= 0; --k) {
      const int kind = g.below(8);
      if (kind == 0) step += g.below(4);
      stride[k] = kind == 1 ? 0 : kind == 2 ? -step : step;
      step *= e.space[k];
    }
    if (g.below(4) == 0 && rank > 1) {
      const int a = g.below(rank), b = g.below(rank);
      const std::int64_t t = stride[a];
      stride[a] = stride[b];
      stride[b] = t;
    }
  }
  return e;
}

template <int Operands>
constexpr strided_layout<Operands> coalesced(const example<Operands>& e) {
  const std::int64_t* strides[Operands]{};
  for (int i = 0; i < Operands; ++i) strides[i] = e.stride[i];
  return coalesce<Operands>(e.space, strides);
}

/// Where the element of operand `i` is, by the definition of a stride.
template <int Operands>
constexpr std::int64_t defined_offset(const example<Operands>& e, int i, std::int64_t index) {
  std::int64_t offset = 0;
  for (int k = e.space.rank - 1; k >= 0; --k) {
    offset += index % e.space[k] * e.stride[i][k];
    index /= e.space[k];
  }
  return offset;
}

/// The same size, and the same elements at every index.
template <int Operands>
constexpr bool says_the_same(const example<Operands>& e, const strided_layout<Operands>& l) {
  if (l.size() != e.space.size()) return false;
  for (std::int64_t k = 0; k < l.size(); ++k)
    for (int i = 0; i < Operands; ++i)
      if (offset_of(l.rank, l.extent, l.stride[i], k) != defined_offset(e, i, k)) return false;
  return true;
}

/// No extent is 1 but that of a single element, and no two neighbours could be one.
template <int Operands>
constexpr bool is_shortest(const strided_layout<Operands>& l) {
  for (int k = 0; k < l.rank; ++k) {
    if (l.extent[k] == 1) return l.rank == 1;
    bool joins = k > 0;
    for (int i = 0; i < Operands && joins; ++i) joins = l.stride[i][k - 1] == l.stride[i][k] * l.extent[k];
    if (joins) return false;
  }
  return true;
}

/// The rows of `[first, last)` are its elements, in order and as long as they can be.
template <int Operands>
constexpr bool rows_are_right(const example<Operands>& e, const strided_layout<Operands>& l, std::int64_t first,
                              std::int64_t last) {
  const int inner = l.rank - 1;
  std::int64_t at = first;
  bool right = true;
  for_each_row(l, first, last, [&](const std::int64_t* offset, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k)
      for (int i = 0; i < Operands; ++i)
        right = right && offset[i] + (k > 0 ? k * l.stride[i][inner] : 0) == defined_offset(e, i, at + k);
    at += count;
    right = right && count > 0 && (at == last || at % l.extent[inner] == 0);
  });
  return right && at == (first < last ? last : first);
}

template <int Operands>
constexpr bool holds(std::uint32_t seed) {
  generator g{seed};
  for (int k = 0; k < 6; ++k) {
    const example<Operands> e = random_example<Operands>(g);
    const strided_layout<Operands> l = coalesced(e);
    const int size = static_cast<int>(l.size()), first = g.below(size), last = first + g.below(size - first + 1);
    if (!says_the_same(e, l) || !is_shortest(l)) return false;
    if (!rows_are_right(e, l, 0, size) || !rows_are_right(e, l, first, last)) return false;
  }
  return true;
}

// A few at a time: compilers count the steps of one evaluation.
static_assert(holds<1>(1) && holds<1>(2) && holds<1>(3));
static_assert(holds<1>(4) && holds<1>(5) && holds<1>(6));
static_assert(holds<2>(7) && holds<2>(8) && holds<2>(9));
static_assert(holds<2>(10) && holds<2>(11) && holds<2>(12));
static_assert(holds<3>(13) && holds<3>(14));
static_assert(holds<3>(15) && holds<3>(16));

}  // namespace
