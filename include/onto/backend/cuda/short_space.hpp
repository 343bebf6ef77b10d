// SPDX-License-Identifier: BSL-1.0
// Strided spaces in 32 bits: what is too large for that is launched in parts that are not. So threads compute positions
// without 64-bit products and without division. Plain arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/index.hpp>

#include <cstdint>

namespace onto::detail {

/// Spaces have fewer elements than this, and elements lie nearer to the first than this: beyond, threads have room
/// for a step more.
inline constexpr std::int64_t short_limit = std::int64_t{1} << 30;

/// Divides numbers below 2^31 by one that is chosen once: a multiplication and a shift.
/// *Source* Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994.
struct short_divisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t shift = 0;

  constexpr short_divisor() = default;
  /// *Preconditions* `0 < d < 2^31`.
  constexpr explicit short_divisor(std::int64_t d) {
    const index_divisor exact(d);
    divisor = static_cast<std::uint32_t>(d);
    multiplier = exact.multiplier;
    shift = exact.shift;
  }

  ONTO_HD constexpr std::uint32_t divide(std::uint32_t n) const {
    const auto high = static_cast<std::uint32_t>((static_cast<std::uint64_t>(n) * multiplier) >> 32);
    return (high + n) >> shift;
  }
};

/// How far from the first elements those at one place of a space lie.
template <int Operands>
struct positions {
  std::int32_t of[Operands];
};

/// A row-major index space whose indices and positions fit in 32 bits.
template <int Operands>
struct short_space {
  int rank = 0;
  short_divisor extent[max_rank]{};
  std::int32_t stride[max_rank][Operands]{};

  constexpr void append(std::int64_t e, const std::int64_t (&strides)[Operands]) {
    for (int k = 0; k < Operands; ++k) stride[rank][k] = static_cast<std::int32_t>(strides[k]);
    extent[rank++] = short_divisor(e);
  }
};

template <int Operands>
ONTO_HD ONTO_INLINE constexpr void move(positions<Operands>& at, const std::int32_t (&stride)[Operands],
                                        std::uint32_t count) {
  if constexpr (Operands > many_inputs + 1) {
    ONTO_NO_UNROLL
    for (int k = 0; k < Operands; ++k) at.of[k] += stride[k] * static_cast<std::int32_t>(count);
  } else {
    for (int k = 0; k < Operands; ++k) at.of[k] += stride[k] * static_cast<std::int32_t>(count);
  }
}

/// Where the elements of the row-major `index` lie.
// The loop over dimensions is not unrolled: most spaces have one or two, and every program compiles this.
template <int Operands>
ONTO_HD ONTO_INLINE constexpr positions<Operands> locate(const short_space<Operands>& space, std::uint32_t index) {
  positions<Operands> at{};
  ONTO_NO_UNROLL
  for (int d = space.rank - 1; d > 0; --d) {
    const std::uint32_t quotient = space.extent[d].divide(index);
    move(at, space.stride[d], index - quotient * space.extent[d].divisor);
    index = quotient;
  }
  if (space.rank > 0) move(at, space.stride[0], index);
  return at;
}

/// A space and where in each operand it begins: all of a space, or a part of one that is too large.
template <int Operands>
struct space_part {
  strided_space<Operands> space;
  std::int64_t start[Operands]{};
};

/// The greatest distance of an element from the first along dimension `d`.
template <int Operands>
constexpr std::int64_t reach(const strided_space<Operands>& space, int d) {
  std::int64_t most = 0;
  for (int k = 0; k < Operands; ++k) {
    const std::int64_t stride = space.stride[k][d];
    const std::int64_t far = (space.extent[d].divisor - 1) * (stride < 0 ? -stride : stride);
    if (far > most) most = far;
  }
  return most;
}

template <int Operands>
constexpr bool is_short(const strided_space<Operands>& space) {
  std::int64_t sum = 0;
  for (int d = 0; d < space.rank; ++d) sum += reach(space, d);
  return space.size < short_limit && sum < short_limit;
}

/// The space with another extent of dimension `d`, which goes away where that is 1.
template <int Operands>
constexpr strided_space<Operands> with_extent(const strided_space<Operands>& space, int d, std::int64_t extent) {
  strided_space<Operands> r;
  for (int from = 0; from < space.rank; ++from) {
    const std::int64_t e = from == d ? extent : space.extent[from].divisor;
    if (e == 1) continue;
    for (int k = 0; k < Operands; ++k) r.stride[k][r.rank] = space.stride[k][from];
    r.append(e);
  }
  return r;
}

/// Calls `take` with parts of the space that are short, one after another: with the whole of it in nearly every case.
/// *Preconditions* the space is not empty, and collapsed.
template <int Operands, class Take>
void for_each_short(const space_part<Operands>& part, const Take& take) {
  if (is_short(part.space)) return take(part);
  int widest = 0;
  for (int d = 1; d < part.space.rank; ++d)
    if (reach(part.space, d) > reach(part.space, widest)) widest = d;
  const std::int64_t extent = part.space.extent[widest].divisor;
  constexpr std::int64_t unit = 1024;  // so that the second half is aligned as the first is
  const std::int64_t half = extent > 2 * unit ? extent / 2 / unit * unit : extent / 2;
  space_part<Operands> first{with_extent(part.space, widest, half)},
      second{with_extent(part.space, widest, extent - half)};
  for (int k = 0; k < Operands; ++k) {
    first.start[k] = part.start[k];
    second.start[k] = part.start[k] + half * part.space.stride[k][widest];
  }
  for_each_short(first, take);
  for_each_short(second, take);
}

}  // namespace onto::detail
