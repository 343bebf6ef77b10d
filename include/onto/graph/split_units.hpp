// SPDX-License-Identifier: BSL-1.0
// Kernels as they are scheduled: those whose members are on several devices are split.
#pragma once

#include <onto/graph/batched_units.hpp>
#include <onto/graph/plan_step.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Splits kernels: one operation at a time where `split` says so, or where their members are on several devices and so
/// are those of what they were merged from. `stays_whole(root)`: a kernel that is not run.
template <class StaysWhole>
constexpr void form_units(const graph_view& g, const kernel_partition& whole, const kernel_partition& parts,
                          const node_placement* where, const bool* split, const schedule_scratch& r,
                          const StaysWhole& stays_whole) {
  const kernel_arrays& units = r.units;
  units.copy(whole, g.count);
  for (int n = 0; n < g.count; ++n) {
    r.value_of[n] = -1;
    r.done[n] = false;
    r.broken[n] = false;
    units.result[n] = false;
  }
  bool* const apart = r.done;  // per root: members on several devices
  bool* const part_apart = units.result;
  bool any = split != nullptr;
  for (int n = 0; n < g.count; ++n) {
    if (!whole.runs(n)) continue;
    const int root = whole.kernel_of[n], part = parts.kernel_of[n];
    if (!(where[n].where == where[root].where) && !stays_whole(root)) any = apart[root] = true;
    if (!(where[n].where == where[part].where)) part_apart[part] = true;
  }
  for (int n = 0; n < g.count && any; ++n) {
    const int root = whole.kernel_of[n];
    if (root < 0) continue;
    if (split && split[root])
      units.kernel_of[n] = n;
    else if (apart[root])
      units.kernel_of[n] = part_apart[parts.kernel_of[n]] ? n : parts.kernel_of[n];
    if (units.kernel_of[n] != root) r.broken[root] = true;
  }
  any = form_batches(g, whole, where, r.broken, units, r.value_of) || any;
  if (any) units.list_members(g.count);
  mark_results(g, units);
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
