// SPDX-License-Identifier: BSL-1.0
// How the rows of a row kernel lie.
#pragma once

#include <cstdint>

namespace onto::detail {

/// How rows lie, which decides how the CPU goes over them.
enum class row_order : std::uint8_t {
  none,           ///< no row kernel
  along_memory,   ///< along the last axis: one after the other
  across_memory,  ///< along another axis: many side by side, which are columns of memory
  short_rows,     ///< along the last axis, and so short that many side by side are brought as columns
};

}  // namespace onto::detail
