// SPDX-License-Identifier: BSL-1.0
// What a program is told of a device's memory.
#pragma once

#include <cstdint>

namespace onto {

/// A device's memory, in bytes, as one session uses it.
struct memory_info {
  std::int64_t in_use = 0;    ///< held by variables, prepared programs and what runs
  std::int64_t peak = 0;      ///< the most that was in use at one time
  std::int64_t reserved = 0;  ///< taken from the system, in use or kept for what comes next
  std::int64_t limit = 0;     ///< the most the session takes; 0: no limit but the device's own
  /// What kernels like to work in beside what is in use, and can do without: part of the limit, and of no plan.
  std::int64_t workspace = 0;
};

}  // namespace onto
