// SPDX-License-Identifier: BSL-1.0
// How often each node is used, and by whom.
#pragma once

#include <onto/graph/graph.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// How often each node is used, by operations and fetches, and the last operation that does.
struct node_uses {
  const int* count = nullptr;
  const int* user = nullptr;

  constexpr int operator[](int n) const { return count[n]; }
  /// The only user of node `n`, if that is an operation; -1 else.
  constexpr int only_user(int n) const { return count[n] == 1 ? user[n] : -1; }
};

/// Room: one entry a node. *Complexity* linear in edges.
constexpr node_uses count_uses(const graph_view& g, int* count, int* user) {
  for (int n = 0; n < g.count; ++n) {
    count[n] = 0;
    user[n] = -1;
  }
  for (int n = 0; n < g.count; ++n)
    for (int k = 0; k < g[n].count; ++k) {
      ++count[g.operand(n, k)];
      user[g.operand(n, k)] = n;
    }
  for (int k = 0; k < g.fetch_count; ++k) {
    ++count[g.fetches[k]];
    user[g.fetches[k]] = -1;
  }
  return {count, user};
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
