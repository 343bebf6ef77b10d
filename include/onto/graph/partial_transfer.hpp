// SPDX-License-Identifier: BSL-1.0
// Partial transfers: where a device reads only some rows of a value that is elsewhere, only those rows are copied
// there.
#pragma once

#include <onto/graph/kernels.hpp>
#include <onto/graph/placer.hpp>
#include <onto/graph/readers.hpp>
#include <onto/ops/view.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether a node is rows of the one below it, one after the other: a piece of contiguous memory, whatever the extents.
constexpr bool is_rows(const graph_view& g, int n) {
  return g[n].kind() == op_kind::view && takes_rows(*g[n].op) && range_count(*g[n].op) > 0;
}

/// Whether rows `a` and `b` of one value have no row in common, whatever its extents.
constexpr bool are_apart(const graph_view& g, int a, int b) {
  const slice_range x = range_of(*g[a].op, 0), y = range_of(*g[b].op, 0);
  return x.begin >= 0 && x.end >= 0 && y.begin >= 0 && y.end >= 0 && (x.end <= y.begin || y.end <= x.begin);
}

/// Of the views that operand `o` is, the lowest, right above the base; the base itself where there is none.
constexpr int lowest_view(const graph_view& g, const kernel_partition& p, int o) {
  const int base = base_of(g, p, o);
  while (o != base && g.operand(o, 0) != base) o = g.operand(o, 0);
  return o;
}

/// The first of `o` and the nodes below its views for which `held(node)` is true; the base where there is none.
template <class Held>
constexpr int find_held(const graph_view& g, const kernel_partition& p, int o, const Held& held) {
  const int base = base_of(g, p, o);
  while (o != base && !held(o)) o = g.operand(o, 0);
  return o;
}

/// What of operand `o` is copied to a place that does not have its base: some rows, where all that is read there of the
/// base is rows and none of them twice, so that no byte is copied twice; else all of it. Asks for no extent, so that
/// the number of copies is known without.
constexpr int partial_transfer_of(const graph_view& g, const kernel_partition& p, const node_placement* where,
                                  const base_readers& readers, int o, const place& at) {
  const int base = base_of(g, p, o);
  const int rows = lowest_view(g, p, o);
  if (rows == base || !is_rows(g, rows)) return base;
  for (const int* reader = readers.begin(base); reader != readers.end(base); ++reader) {
    const int m = *reader;
    if (!p.runs(m) || !(where[p.kernel_of[m]].where == at)) continue;
    for (int k = 0; k < g[m].count; ++k) {
      if (base_of(g, p, g.operand(m, k)) != base) continue;
      const int other = lowest_view(g, p, g.operand(m, k));
      if (other != rows && (other == base || !is_rows(g, other) || !are_apart(g, rows, other))) return base;
    }
  }
  for (int k = 0; k < g.fetch_count; ++k)
    if (g.fetches[k] == base && at.kind == device_kind::cpu) return base;  // all of it comes for the fetch
  return rows;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
