// SPDX-License-Identifier: BSL-1.0
// How exact matrix products of floats are on a GPU: a choice between digits and speed.
#pragma once

#include <cstdint>

namespace onto {

/// How a GPU multiplies matrices of floats.
enum class math_mode : std::uint8_t {
  full,  ///< float throughout: 24 bits of every operand
  tf32   ///< operands rounded to 11 bits for the tensor cores, sums in float: several times as fast
};

}  // namespace onto
