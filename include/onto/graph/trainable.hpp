// SPDX-License-Identifier: BSL-1.0
// Which variables a loss changes with: those that `minimize(optimizer, loss)` trains.
#pragma once

#include <onto/graph/lowering.hpp>
#include <onto/ops/gradient.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

template <class Loss>
struct trainable_of {
  /// Whether a gradient comes from the loss to the variable with this id: its node is marked from the loss down.
  static constexpr bool reaches(std::uint64_t id) {
    constexpr graph_view g = lowering<Loss>::data.view();
    bool comes[g.count + 1]{};
    comes[g.fetches[0]] = true;
    for (int n = g.count - 1; n >= 0; --n) {
      if (!comes[n]) continue;
      if (g[n].kind() == op_kind::variable && g[n].id == id) return true;
      const derivative_rule r = derivatives_of<typename Loss::ops>::rules.find(g[n].op->hash);
      for (int k = 0; k < g[n].count && r.kind != derivative_kind::flat; ++k)
        if (is_floating(g[g.operand(n, k)].type)) comes[g.operand(n, k)] = true;
    }
    return false;
  }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
