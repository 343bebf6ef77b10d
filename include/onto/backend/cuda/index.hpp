// SPDX-License-Identifier: BSL-1.0
// Where the elements of strided operands lie: spaces with as few dimensions as their operands allow, and division by
// extents without dividing. Plain arithmetic, the same on host and device.
#pragma once

#include <onto/core/config.hpp>
#include <onto/runtime/kernel.hpp>
#include <onto/shape/extents.hpp>

#include <cstdint>

namespace onto::detail {

/// Threads of a block, in every kernel here.
inline constexpr int block_threads = 256;

constexpr std::int64_t divide_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

__extension__ typedef unsigned __int128 wide_index;

/// Divides by a number that is chosen once: a multiplication and a shift. Device code would call a function to divide
/// 64 bits.
/// *Source* Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994, for dividends of 63
/// bits.
struct index_divisor {
  std::int64_t divisor = 1;
  std::uint64_t wide = std::uint64_t{1} << 63;  // the multiplier for dividends of 63 bits,
  std::uint32_t multiplier = 1;                 // and for those of 31; 0 where the divisor has more
  std::uint32_t shift = 0;

  constexpr index_divisor() = default;
  constexpr explicit index_divisor(std::int64_t d) : divisor(d) {
    if (d == 0) return;  // nothing is ever divided by it
    while ((std::uint64_t{1} << shift) < static_cast<std::uint64_t>(d)) ++shift;
    const auto by = static_cast<wide_index>(d);
    wide = static_cast<std::uint64_t>(((wide_index{1} << (63 + shift)) + by - 1) / by);
    multiplier = 0;
    if (d > 0x7fffffff) return;
    const std::uint64_t excess = (std::uint64_t{1} << shift) - static_cast<std::uint64_t>(d);
    multiplier = static_cast<std::uint32_t>((excess << 32) / static_cast<std::uint64_t>(d) + 1);
  }

  /// *Preconditions* `n >= 0`.
  ONTO_HD constexpr std::int64_t divide(std::int64_t n) const {
    const wide_index product = static_cast<wide_index>(2 * static_cast<std::uint64_t>(n)) * wide;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(product >> 64) >> shift);
  }
};

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

/// A set of dimensions, a bit each.
using dimension_set = unsigned;

/// The dimensions of `space` that are in `dimensions`, in their order, joined where every operand lets one stride stand
/// for two. Extents of 1 go away; so does everything where there is nothing.
template <int Operands>
constexpr strided_space<Operands> collapse(const extents& space, dimension_set dimensions,
                                           const operand_view* operands) {
  strided_space<Operands> r;
  for (int d = 0; d < space.rank; ++d) {
    const std::int64_t e = space[d];
    if ((dimensions >> d & 1u) == 0 || e == 1) continue;
    bool joins = r.rank > 0;
    for (int k = 0; k < Operands && joins; ++k) joins = r.stride[k][r.rank - 1] == operands[k].stride[d] * e;
    if (joins) {
      const int last = r.rank - 1;
      r.size *= e;
      r.extent[last] = index_divisor(r.extent[last].divisor * e);
    } else {
      r.append(e);
    }
    for (int k = 0; k < Operands; ++k) r.stride[k][r.rank - 1] = operands[k].stride[d];
  }
  return r;
}

/// Every dimension of a space of this rank.
constexpr dimension_set all_dimensions(int rank) { return (1u << rank) - 1u; }

}  // namespace onto::detail
