// SPDX-License-Identifier: BSL-1.0
// The names of a graph's nodes in logs, errors and pictures: the program's own, else the operation's, made unique with _1, _2.
#pragma once

#include <onto/graph/graph.hpp>

#include <string>
#include <vector>

namespace onto::detail {

ONTO_COLD inline bool name_taken(const std::vector<std::string>& names, const std::string& wanted) {
  for (const std::string& n : names)
    if (n == wanted) return true;
  return false;
}

/// One name a node, in order of the graph. Scalars have none.
ONTO_COLD inline std::vector<std::string> node_names(const graph_view& g) {
  std::vector<std::string> names(static_cast<std::size_t>(g.count));
  for (int n = 0; n < g.count; ++n)
    if (!g[n].name.empty()) names[static_cast<std::size_t>(n)] = std::string(g[n].name);
  for (int n = 0; n < g.count; ++n) {
    std::string& name = names[static_cast<std::size_t>(n)];
    if (!name.empty() || g[n].kind() == op_kind::scalar) continue;
    std::string wanted(g[n].op->name);
    int before = 0;  // an earlier node of the same operation has taken lower numbers
    for (int m = 0; m < n; ++m) before += g[m].name.empty() && g[m].op->name == g[n].op->name ? 1 : 0;
    if (before) wanted += "_" + std::to_string(before);
    while (name_taken(names, wanted)) wanted = std::string(g[n].op->name) + "_" + std::to_string(++before);
    name = wanted;
  }
  return names;
}

}  // namespace onto::detail
