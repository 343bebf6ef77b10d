// SPDX-License-Identifier: BSL-1.0
// Memory of a schedule: where in a device's block each value lies, so that values which are not needed at the same time
// share it.
#pragma once

#include <onto/graph/schedule.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Memory is handed out in pieces of this many bytes.
inline constexpr std::int64_t alignment = 256;

constexpr std::int64_t rounded(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Gives the values of one device offsets in one block: first fit in order of birth; what takes over an operand's
/// memory lies where that does. Returns the block's size, or -1 where an extent is not known. Values written straight
/// to a result or kept by a variable are elsewhere.
constexpr std::int64_t assign_offsets(plan_value* values, int count, const place& at) {
  std::int64_t top = 0;
  for (int v = 0; v < count; ++v) {
    plan_value& x = values[v];
    if (!(x.at == at) || x.fetch >= 0 || x.variable) continue;
    if (x.bytes < 0) return -1;
    if (x.reuses >= 0) {
      x.offset = values[x.reuses].offset;
      continue;
    }
    const std::int64_t size = rounded(x.bytes);
    std::int64_t offset = 0;
    bool moved = true;
    while (moved) {
      moved = false;
      for (int u = 0; u < v; ++u) {
        const plan_value& y = values[u];
        if (!(y.at == at) || y.fetch >= 0 || y.variable || y.end < x.begin || x.end < y.begin) continue;
        const std::int64_t end = y.offset + rounded(y.bytes);
        if (offset < end && y.offset < offset + size) {
          offset = end;
          moved = true;
        }
      }
    }
    x.offset = offset;
    if (offset + size > top) top = offset + size;
  }
  return top;
}

/// Bytes of the new values of variables on a device, which a run makes beside the old ones; -1 where an extent is not
/// known.
constexpr std::int64_t variable_bytes(const plan_value* values, int count, const place& at) {
  std::int64_t sum = 0;
  for (int v = 0; v < count; ++v) {
    if (!(values[v].at == at) || !values[v].variable) continue;
    if (values[v].bytes < 0) return -1;
    sum += rounded(values[v].bytes);
  }
  return sum;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
