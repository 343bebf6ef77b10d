// SPDX-License-Identifier: BSL-1.0
// The names of a graph's nodes in logs, errors and pictures: the program's own, else the operation's, made unique with
// _1, _2.
#pragma once

#include <onto/core/message.hpp>
#include <onto/graph/graph.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether the program gave the name `stem` or `stem_number` to some node.
ONTO_COLD ONTO_NOINLINE inline bool name_taken(const graph_view& g, std::string_view stem, int number) {
  message m(stem);
  if (number) m << "_" << number;
  for (int n = 0; n < g.count; ++n)
    if (g[n].name == m.text()) return true;
  return false;
}

/// Writes the name of node `n`; nothing for a scalar.
ONTO_COLD ONTO_NOINLINE inline void write_name(message& m, const graph_view& g, int n) {
  if (!g[n].name.empty()) {
    m << g[n].name;
    return;
  }
  if (g[n].kind() == op_kind::scalar) return;
  // Nodes of one operation are numbered in order of the graph, past the numbers that the program has given away.
  int number = -1;
  for (int k = 0; k <= n; ++k) {
    if (!g[k].name.empty() || g[k].op->name != g[n].op->name) continue;
    do ++number;
    while (name_taken(g, g[n].op->name, number));
  }
  m << g[n].op->name;
  if (number) m << "_" << number;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
