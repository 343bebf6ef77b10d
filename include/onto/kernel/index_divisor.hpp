// SPDX-License-Identifier: BSL-1.0
// Division by extents that are chosen once, by a multiplication and a shift. Plain arithmetic, the same on host and
// device.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>

namespace onto::detail {

__extension__ typedef unsigned __int128 wide_index;

/// Divides by a number that is chosen once: a multiplication and a shift. Device code would call a function to divide
/// 64 bits.
/// *Source* Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994, for dividends of 63
/// bits.
struct index_divisor {
  std::int64_t divisor = 1;
  std::uint64_t multiplier = std::uint64_t{1} << 63;
  std::uint32_t shift = 0;

  constexpr index_divisor() = default;
  ONTO_HD constexpr explicit index_divisor(std::int64_t d) : divisor(d) {
    if (d == 0) return;  // nothing is ever divided by it
    while ((std::uint64_t{1} << shift) < static_cast<std::uint64_t>(d)) ++shift;
    const auto by = static_cast<wide_index>(d);
    multiplier = static_cast<std::uint64_t>(((wide_index{1} << (63 + shift)) + by - 1) / by);
  }

  /// *Preconditions* `n >= 0`.
  ONTO_HD constexpr std::int64_t divide(std::int64_t n) const {
    const wide_index product = static_cast<wide_index>(2 * static_cast<std::uint64_t>(n)) * multiplier;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(product >> 64) >> shift);
  }
};

/// Divides numbers below 2^31 by one that is chosen once: a multiplication and a shift.
/// *Source* Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994.
struct short_divisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t shift = 0;

  constexpr short_divisor() = default;
  /// *Preconditions* `0 < d < 2^31`.
  constexpr explicit short_divisor(std::int64_t d) : divisor(static_cast<std::uint32_t>(d)) {
    while ((std::uint64_t{1} << shift) < divisor) ++shift;
    const std::uint64_t excess = (std::uint64_t{1} << shift) - divisor;
    multiplier = static_cast<std::uint32_t>((excess << 32) / divisor + 1);
  }

  ONTO_HD constexpr std::uint32_t divide(std::uint32_t n) const {
    const auto high = static_cast<std::uint32_t>((static_cast<std::uint64_t>(n) * multiplier) >> 32);
    return (high + n) >> shift;
  }
};

}  // namespace onto::detail
