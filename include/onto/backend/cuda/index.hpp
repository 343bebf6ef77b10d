// SPDX-License-Identifier: BSL-1.0
// Where the elements of strided operands lie, in spaces whose extents nobody divides by. Plain arithmetic, the same on
// host and device.
#pragma once

#include <onto/core/config.hpp>
#include <onto/kernel/index_divisor.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/kernel/workspace.hpp>
#include <onto/runtime/kernel.hpp>
#include <onto/shape/extents.hpp>

#include <cstdint>

namespace onto::detail {

/// Threads of a block, in every kernel here.
inline constexpr int block_threads = 256;

/// The logarithm of the least power of two that is not less than `n`, but at most `most`; and that power.
ONTO_HD constexpr int logarithm_from(std::int64_t n, int most = 62) {
  int r = 0;
  while (r < most && (std::int64_t{1} << r) < n) ++r;
  return r;
}
constexpr std::int64_t power_of_two_from(std::int64_t n) { return std::int64_t{1} << logarithm_from(n); }

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

/// The operands from which on a kernel's code is kept short: compiling it would take longer than running it.
inline constexpr int many_inputs = 16;

/// How far from their first elements the elements at the row-major `index` lie, added to `start`.
// The loop over dimensions is not unrolled: most spaces have one, and what is taken apart is used for each operand.
template <int Operands>
ONTO_HD ONTO_INLINE constexpr void add_offsets(const strided_space<Operands>& space, std::int64_t index,
                                               std::int64_t (&start)[Operands]) {
  ONTO_NO_UNROLL
  for (int d = space.rank - 1; d >= 0; --d) {
    std::int64_t at = index;
    if (d > 0) {
      const std::int64_t quotient = space.extent[d].divide(index);
      at -= quotient * space.extent[d].divisor;
      index = quotient;
    }
    if constexpr (Operands > many_inputs) {
      ONTO_NO_UNROLL
      for (int k = 0; k < Operands; ++k) start[k] += at * space.stride[k][d];
    } else {
      for (int k = 0; k < Operands; ++k) start[k] += at * space.stride[k][d];
    }
  }
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
