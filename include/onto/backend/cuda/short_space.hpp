// SPDX-License-Identifier: BSL-1.0
// Strided spaces in 32 bits, so that threads compute positions without 64-bit products and without division. Plain
// arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/index.hpp>

#include <cstdint>

namespace onto::detail {

/// How far from the first elements those at one place of a space lie.
template <int Operands>
struct positions {
  std::int32_t of[Operands];
};

/// A row-major index space whose indices and positions fit in 32 bits.
template <int Operands>
struct short_space {
  int rank;
  short_divisor extent[max_rank];
  std::int32_t stride[max_rank][Operands];
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

}  // namespace onto::detail
