// SPDX-License-Identifier: BSL-1.0
// One value beside many, for kernels that read operands element by element: a broadcast.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>

namespace onto::detail {

/// A value stands there so many times at most; what is mapped beside it is mapped in pieces of as many elements.
inline constexpr std::int64_t value_repeats = 512;
/// Room for that, whatever its type is.
struct repeated_value {
  alignas(64) unsigned char bytes[8 * value_repeats];
};

/// Writes a value of 1, 2, 4 or 8 bytes down `count` times, and up to 15 bytes more. *Returns* where.
ONTO_NOINLINE inline const void* repeat_value(repeated_value& to, const void* value, int size, std::int64_t count) {
  std::uint64_t word = 0;
  std::memcpy(&word, value, static_cast<std::size_t>(size));
  word *= size == 1 ? 0x0101010101010101u : size == 2 ? 0x0001000100010001u : size == 4 ? 0x0000000100000001u : 1u;
  const std::uint64_t two[] = {word, word};
  for (std::int64_t k = 0; k < count * size; k += 16) std::memcpy(to.bytes + k, two, sizeof two);
  return to.bytes;
}

}  // namespace onto::detail
