// SPDX-License-Identifier: BSL-1.0
// Batches as they are scheduled: the kernels of one, as far as they are on one device, are one unit.
#pragma once

#include <onto/graph/kernels.hpp>
#include <onto/graph/placer.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Makes units of the batches of `whole`, without kernels that are `broken` into units already. `unit_of`: room of an
/// entry a node, all -1, as it is again when this returns. *Returns* whether there are any.
/// *Complexity* nodes; and where a batch is on several devices, nodes for each of its kernels.
constexpr bool form_batches(const graph_view& g, const kernel_partition& whole, const node_placement* where,
                            const bool* broken, const kernel_arrays& units, int* unit_of) {
  const auto is_free = [&](int n) {
    return whole.kernel_of[n] == n && whole.batch_of[n] >= 0 && units.kernel_of[n] == n && !broken[n];
  };
  bool any = false;
  for (int n = g.count - 1; n >= 0; --n) {
    if (!is_free(n)) continue;
    const int batch = whole.batch_of[n];
    int unit = unit_of[batch];  // the last kernel of the batch, which others join
    if (unit < 0) unit_of[batch] = unit = n;
    while (unit > n && !(is_free(unit) && whole.batch_of[unit] == batch && where[unit].where == where[n].where)) --unit;
    if (unit == n) continue;
    any = true;
    for (int m = whole.first_member[n]; m >= 0; m = whole.next_member[m]) units.kernel_of[m] = unit;
  }
  for (int n = 0; n < g.count; ++n) unit_of[n] = -1;
  return any;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
