// SPDX-License-Identifier: BSL-1.0
// Where the elements of strided operands lie, in spaces whose extents nobody divides by. Plain arithmetic, the same on
// host and device.
#pragma once

#include <onto/core/config.hpp>
#include <onto/kernel/index_divisor.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/runtime/kernel.hpp>
#include <onto/shape/extents.hpp>

#include <cstdint>

namespace onto::detail {

/// Threads of a block, in every kernel here.
inline constexpr int block_threads = 256;

constexpr std::int64_t divide_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

/// A row-major index space, and where in each operand its elements lie.
template <int Operands>
struct strided_space {
  int rank = 0;
  std::int64_t size = 1;
  index_divisor extent[max_rank]{};
  std::int64_t stride[Operands > 0 ? Operands : 1][max_rank]{};

  constexpr void append(std::int64_t e) {
    extent[rank++] = index_divisor(e);
    size *= e;
  }
};

/// An index taken apart, one number per dimension.
struct coordinates {
  std::int64_t at[max_rank];
};

/// The coordinates of the row-major `index`.
// The loops here run to max_rank so that the compiler unrolls them and keeps the numbers in registers.
template <int Operands>
ONTO_HD constexpr coordinates locate(const strided_space<Operands>& space, std::int64_t index) {
  coordinates c{};
  for (int d = max_rank - 1; d > 0; --d) {
    if (d >= space.rank) continue;
    const std::int64_t quotient = space.extent[d].divide(index);
    c.at[d] = index - quotient * space.extent[d].divisor;
    index = quotient;
  }
  c.at[0] = index;
  return c;
}

/// The operands from which on a kernel's code is kept short: compiling it would take longer than running it.
inline constexpr int many_inputs = 16;

/// How far from its first element the element of `operand` at `c` lies.
template <int Operands>
ONTO_HD constexpr std::int64_t offset(const strided_space<Operands>& space, const coordinates& c, int operand) {
  std::int64_t sum = 0;
  if constexpr (Operands > many_inputs) {
    ONTO_NO_UNROLL
    for (int d = 0; d < space.rank; ++d) sum += c.at[d] * space.stride[operand][d];
  } else {
    for (int d = 0; d < max_rank; ++d)
      if (d < space.rank) sum += c.at[d] * space.stride[operand][d];
  }
  return sum;
}

/// The dimensions of `space` that are in `dimensions`, in their order, joined where every operand lets one stride stand
/// for two. Extents of 1 go away; so does everything where there is nothing.
template <int Operands>
constexpr strided_space<Operands> collapse(const extents& space, dimension_set dimensions,
                                           const operand_view* operands) {
  dimension_set joined = dimensions;
  for (int k = 0; k < Operands; ++k) joined &= joined_dimensions(space, operands[k].stride, dimensions);
  const coalesced_space c = coalesce(space, joined, dimensions);
  strided_space<Operands> r;
  for (int d = 0; d < c.rank; ++d) {
    r.append(c.extent[d]);
    for (int k = 0; k < Operands; ++k) r.stride[k][d] = operands[k].stride[c.dimension[d]];
  }
  return r;
}

}  // namespace onto::detail
