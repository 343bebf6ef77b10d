// SPDX-License-Identifier: BSL-1.0
// The states of expressions along a graph's visits: where scalars and constants have their values.
#pragma once

#include <onto/core/arena.hpp>
#include <onto/expr/state.hpp>
#include <onto/graph/graph.hpp>

namespace onto::detail {

/// The state that a visit comes to first, or null. `fetched`: the states of what is fetched; `at`: of the visits
/// before.
ONTO_INLINE const state* state_of_visit(const graph_visit& visit, const state* const* fetched, const state* const* at) {
  if (visit.parent < 0) return fetched[visit.child];
  const state* const above = at[visit.parent];
  return above && visit.child < above->child_count ? above->children[visit.child] : nullptr;
}

/// Those of all visits.
struct visit_states {
  const state** at;
  const state** values;  // per node, of a leaf
  bool one = true;       // what is met again is the same object
  bool guarded = false;  // something was written under a guard

  ONTO_NOINLINE visit_states(const graph_view& g, const state* const* fetched, arena& memory)
      : at(memory.make<const state*>(g.visit_count)), values(memory.make<const state*>(g.count)) {
    for (int v = 0; v < g.visit_count; ++v) {
      at[v] = state_of_visit(g.visits[v], fetched, at);
      guarded = guarded || (at[v] && at[v]->guard);
      one = one && (g.visits[v].same_as < 0 || at[v] == at[g.visits[v].same_as]);
    }
    for (int n = 0; n < g.count; ++n)
      if (g[n].is_leaf() && g[n].visit >= 0) values[n] = at[g[n].visit];
  }
};

}  // namespace onto::detail
