// SPDX-License-Identifier: BSL-1.0
// NaN and infinities by their bits: with -ffast-math compilers take it that every number is finite.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The bits without the sign.
inline std::uint64_t size_bits(double value) { return __builtin_bit_cast(std::uint64_t, value) << 1 >> 1; }
inline constexpr std::uint64_t infinity_bits = std::uint64_t{0x7ff} << 52;
inline bool is_finite(double value) { return size_bits(value) < infinity_bits; }

/// The characters of a number that is none, or infinite.
inline const char* not_finite(double value) {
  if (size_bits(value) > infinity_bits) return "nan";
  return __builtin_bit_cast(std::uint64_t, value) >> 63 != 0 ? "-inf" : "inf";
}

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
