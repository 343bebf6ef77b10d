// SPDX-License-Identifier: BSL-1.0
// The graph by which a program is evaluated without a session. Two tensors of one type may be one object or two, which
// the expression's type does not say: where each use is an operand of its own, that is right in both cases.
#pragma once

#include <onto/graph/row_fusion.hpp>
#include <onto/plan/plan.hpp>

#include <type_traits>

namespace onto::detail {

constexpr int count_operations(const graph_view& g) {
  int operations = 0;
  for (int n = 0; n < g.count; ++n) operations += g[n].is_leaf() ? 0 : 1;
  return operations;
}

struct kernel_tally {
  int all = 0, rows = 0;
  bool folds_within = false;  // a kernel folds and goes on with what it has folded
  bool operator==(const kernel_tally&) const = default;
};
constexpr kernel_tally tally_kernels(const graph_view& g, const kernel_partition& p) {
  kernel_tally k;
  for (int n = 0; n < g.count; ++n) {
    if (g[n].is_leaf()) continue;
    const bool is_root = p.kernel_of[n] == n;
    k.all += is_root ? 1 : 0;
    k.rows += is_root && is_row_kernel(g, p, n) ? 1 : 0;
    k.folds_within = k.folds_within || (!is_root && g[n].kind() == op_kind::reduce);
  }
  return k;
}

inline namespace ONTO_ABI {

/// Whether nothing is computed twice where each use of what holds values is a node of its own.
template <class E>
constexpr bool is_as_short_apart() {
  using apart = graph_apart<E>;
  return apart::view.count > 0 && count_operations(apart::view) == count_operations(graph_of<E>::view);
}

template <class E>
constexpr bool keeps_its_kernels() {
  constexpr kernel_tally apart = tally_kernels(graph_apart<E>::view, fused<graph_apart<E>>::value);
  return !apart.folds_within && apart == tally_kernels(graph_of<E>::view, fused<graph_of<E>>::value);
}
/// Whether the program is evaluated by such a graph: it has no more kernels then, where one would have read what is the
/// same, as `x - mean<1>(x)` does; and no kernel that a session, which refines its program, would not have, so that
/// sums are those of a session to the bit.
template <class E>
constexpr bool is_evaluated_apart() {
  if constexpr (!graph_of<E>::well_formed)
    return false;
  else if constexpr (!graph_of<E>::lowered::sizes.values_decide)
    return false;
  else if constexpr (!is_as_short_apart<E>())
    return false;
  else
    return keeps_its_kernels<E>();
}

template <class... E>
struct graph_of_uses {
  using type = graph_of<E...>;
  static constexpr bool apart = false;
};
template <class E>
  requires(is_evaluated_apart<E>())
struct graph_of_uses<E> {
  using type = graph_apart<E>;
  static constexpr bool apart = true;
};

}  // namespace ONTO_ABI
}  // namespace onto::detail
