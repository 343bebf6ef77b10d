// SPDX-License-Identifier: BSL-1.0
// Row fusion: folds over the last axis that run in the kernel of what uses their results, so that softmax and its like
// read each row once.
#pragma once

#include <onto/graph/kernels.hpp>
#include <onto/graph/view_path.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/shape/extents.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The most folds in one kernel.
inline constexpr int max_row_folds = 32;

/// Whether node `n` is a softmax over rows, or folds each row into one element.
constexpr bool folds_rows(const graph_view& g, int n) {
  const graph_node& x = g[n];
  if (x.kind() != op_kind::row && x.kind() != op_kind::reduce) return false;
  const extents& over = g[g.operand(n, 0)].shape;
  if (over.rank == 0 || over.dims[over.rank - 1] == 1) return false;
  if (x.kind() == op_kind::row) return softmax_axis(*x.op, over.rank) == over.rank - 1;
  // A fold that goes on in the row is of its elements' type: not a position, not a sum of short integers.
  return !is_argument(fold_of(*x.op)) && x.type == g[g.operand(n, 0)].type && !folds_all(*x.op) &&
         folded_axes(*x.op, over.rank) == 1u << (over.rank - 1);
}

/// Whether the result of node `n` has one element for each row of its operand, or more.
constexpr bool keeps_rows(const graph_view& g, int n) { return g[n].kind() == op_kind::row || keeps_axes(*g[n].op); }

/// Whether a shape has one element for each row.
constexpr bool is_column(const extents& shape) { return shape.rank == 0 || shape.dims[shape.rank - 1] == 1; }

/// Whether the kernel of `root` goes over rows in phases.
constexpr bool is_row_kernel(const graph_view& g, const kernel_partition& p, int root) {
  if (g[root].kind() == op_kind::row) return folds_rows(g, root);
  for (int m = p.first_member[root]; m >= 0 && m != root; m = p.next_member[m])
    if (g[m].kind() == op_kind::reduce || g[m].kind() == op_kind::row) return true;
  return false;
}

/// Says while fusing which folds are part of which kernels. Costs nothing where a program has no folds over rows.
class row_finder {
 public:
  constexpr explicit row_finder(const graph_view& g) : g_(g) {
    for (int n = 0; n < g.count && !any_; ++n) any_ = folds_rows(g, n) && keeps_rows(g, n);
    if (!any_) return;
    // Nodes of the same extents, in sets: what is combined element by element, where types do not say otherwise.
    same_ = new int[static_cast<std::size_t>(g.count)]{};
    for (int n = 0; n < g.count; ++n) same_[n] = n;
    for (int n = 0; n < g.count; ++n) {
      if (!g[n].is_map() && g[n].kind() != op_kind::assign && g[n].kind() != op_kind::row) continue;
      for (int k = 0; k < g[n].count; ++k)
        if (g[g.operand(n, k)].shape == g[n].shape) same_[set_of(n)] = set_of(g.operand(n, k));
    }
  }
  row_finder(const row_finder&) = delete;
  row_finder& operator=(const row_finder&) = delete;
  constexpr ~row_finder() { delete[] same_; }

  /// Whether there is anything to find.
  constexpr bool any() const { return any_; }

  /// Whether node `n` folds rows of the kernel with this root, whose members so far `p` tells.
  constexpr bool joins(int n, int root, const kernel_partition& p) const {
    if (!any() || !folds_rows(g_, n) || !keeps_rows(g_, n)) return false;
    const op_kind kind = g_[root].kind();
    if (kind != op_kind::map && kind != op_kind::assign && !folds_rows(g_, root)) return false;
    if (!are_same(g_.operand(n, 0), space_of(g_, root))) return false;
    int folds = 2;
    for (int m = p.first_member[root]; m >= 0; m = p.next_member[m])
      if (!g_[m].is_map()) folds += g_[m].kind() == op_kind::row ? 2 : 1;
    return folds <= max_row_folds;
  }

  /// Whether the map `n` will be computed once for each row: from folds that join it in the kernel, if its other users
  /// let them.
  constexpr bool once_a_row(int n, int root, const kernel_partition& p, int depth = 4) const {
    if (!any() || depth == 0 || !is_column(g_[n].shape)) return false;
    for (int k = 0; k < g_[n].count; ++k) {
      const int o = g_.operand(n, k);
      if (g_[o].is_map() ? once_a_row(o, root, p, depth - 1) : joins(o, root, p) && is_used_in(o, n, root, p))
        return true;
    }
    return false;
  }

 private:
  constexpr int set_of(int n) const {
    while (same_[n] != n) n = same_[n] = same_[same_[n]];
    return n;
  }
  constexpr bool are_same(int a, int b) const {
    return set_of(a) == set_of(b) || (g_[a].shape == g_[b].shape && g_[a].shape.is_static());
  }
  /// Whether the users of `o` above `n` are in the kernel.
  constexpr bool is_used_in(int o, int n, int root, const kernel_partition& p) const {
    for (int u = n + 1; u < g_.count; ++u)
      for (int k = 0; k < g_[u].count; ++k)
        if (g_.operand(u, k) == o && p.kernel_of[u] != root) return false;
    return true;
  }

  const graph_view& g_;
  int* same_ = nullptr;
  bool any_ = false;  // a member: comparing pointers is no constant expression under -fsanitize=undefined
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
