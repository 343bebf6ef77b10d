// SPDX-License-Identifier: BSL-1.0
// Whether each name stands for one thing, where only the values under it can tell.
#pragma once

#include <onto/expr/state.hpp>
#include <onto/graph/graph.hpp>
#if ONTO_DEFINITIONS
#include <onto/core/arena.hpp>
#include <onto/session/refinement.hpp>
#endif

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// *Throws* `invalid_argument_error` where a name has two meanings. `fetched`: the states of what is fetched.
ONTO_COLD ONTO_RUNTIME void expect_one_meaning(const graph_view& g, const state* const* fetched);

/// Whether there are names, and something that is met again, so that there may be other values under one of them.
constexpr bool meets_names(const graph_view& g) {
  bool named = false, again = false;
  for (int n = 0; n < g.written; ++n) named = named || !(g[n].name.empty() || g[n].is_symbol());
  for (int v = 0; v < g.visit_count; ++v)
    again = again || (g.visits[v].same_as >= 0 && g.visits[v].node >= 0 && !g[g.visits[v].node].is_symbol());
  return named && again;
}

#if ONTO_DEFINITIONS
ONTO_COLD ONTO_RUNTIME void expect_one_meaning(const graph_view& g, const state* const* fetched) {
  arena memory;
  static_cast<void>(refinement(g, fetched, memory));
}
#endif

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
