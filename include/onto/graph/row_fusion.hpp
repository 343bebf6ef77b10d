// SPDX-License-Identifier: BSL-1.0
// Row fusion: folds over an axis that run in the kernel of what uses their results, so that softmax and its like read
// each row once. A row lies along any axis.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/kernels.hpp>
#include <onto/graph/row_order.hpp>
#include <onto/graph/view_path.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/shape/extents.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The most folds in one kernel.
inline constexpr int max_row_folds = 32;

/// The axis along which node `n` goes over rows, a softmax or a fold of each row into one element: counted from the
/// last, which is 0, as broadcasting counts. -1: it does not.
constexpr int row_axis_of(const graph_view& g, int n) {
  const graph_node& x = g[n];
  if (x.kind() != op_kind::row && x.kind() != op_kind::reduce) return -1;
  const extents& over = g[g.operand(n, 0)].shape;
  int axis = 0;
  if (x.kind() == op_kind::row) {
    axis = over.rank - 1 - softmax_axis(*x.op, over.rank);
  } else {
    // A fold that goes on in the row is of its elements' type: not a position, not a sum of short integers.
    if (is_argument(fold_of(*x.op)) || x.type != g[g.operand(n, 0)].type || folds_all(*x.op)) return -1;
    const unsigned folded = folded_axes(*x.op, over.rank);
    if (folded == 0 || (folded & (folded - 1)) != 0) return -1;
    while (folded >> (over.rank - 1 - axis) == 0) ++axis;
  }
  return over.rank == 0 || over.dims[over.rank - 1 - axis] == 1 ? -1 : axis;
}

/// Whether node `n` is a softmax over rows, or folds each row into one element.
constexpr bool folds_rows(const graph_view& g, int n) { return row_axis_of(g, n) >= 0; }

/// Whether the result of node `n` broadcasts over the rows that it folds: their axis is still there, or was the first.
constexpr bool keeps_rows(const graph_view& g, int n) {
  return g[n].kind() == op_kind::row || keeps_axes(*g[n].op) || row_axis_of(g, n) == g[g.operand(n, 0)].shape.rank - 1;
}

/// Whether a shape has one element for each row along an axis, counted from the last.
constexpr bool is_column(const extents& shape, int axis) {
  return shape.rank <= axis || shape.dims[shape.rank - 1 - axis] == 1;
}

/// The axis of the rows that the kernel of `root` goes over in phases, as far as its members are known; -1: it does
/// not.
constexpr int row_axis_of_kernel(const graph_view& g, const kernel_partition& p, int root) {
  if (g[root].kind() == op_kind::row) return row_axis_of(g, root);
  for (int m = p.first_member[root]; m >= 0 && m != root; m = p.next_member[m])
    if (g[m].kind() == op_kind::reduce || g[m].kind() == op_kind::row) return row_axis_of(g, m);
  return -1;
}

/// Whether the kernel of `root` goes over rows in phases.
constexpr bool is_row_kernel(const graph_view& g, const kernel_partition& p, int root) {
  return row_axis_of_kernel(g, p, root) >= 0;
}

/// Whether the rows of a kernel along the last axis are known to be so short that the CPU goes over many of them side
/// by side, as over columns. A generator numbers its elements in the order of memory.
constexpr bool has_short_rows(const graph_view& g, const kernel_partition& p, int root) {
  constexpr int longest = 24;        // elements; measured: docs/adr/0062-row-kernels-over-any-axis.md
  constexpr std::int64_t least = 8;  // rows, where their number is known
  int n = dyn;
  const auto look = [&](int m) {
    if (folds_rows(g, m)) {
      const extents& over = g[g.operand(m, 0)].shape;
      n = over[over.rank - 1];
    }
    return g[m].kind() != op_kind::generator;
  };
  bool in_any_order = look(root);
  for (int m = p.first_member[root]; m >= 0; m = p.next_member[m]) in_any_order = look(m) && in_any_order;
  if (!in_any_order || n < 2 || n > longest) return false;
  const extents& result = g[root].shape;
  return !result.is_static() || result.size() / (g[root].kind() == op_kind::reduce ? 1 : n) >= least;
}

/// How the rows of the kernel of `root` lie.
constexpr row_order row_order_of_kernel(const graph_view& g, const kernel_partition& p, int root) {
  const int axis = row_axis_of_kernel(g, p, root);
  return axis < 0                     ? row_order::none
         : axis > 0                   ? row_order::across_memory
         : has_short_rows(g, p, root) ? row_order::short_rows
                                      : row_order::along_memory;
}

/// Says while fusing which folds are part of which kernels. Costs nothing where a program has no folds over rows.
class row_finder {
 public:
  constexpr explicit row_finder(const graph_view& g) : g_(g) {
    bool others = false;  // over another axis than the last
    for (int n = 0; n < g.count && !others; ++n) {
      const int axis = row_axis_of(g, n);
      if (axis < 0 || !keeps_rows(g, n)) continue;
      any_ = true;
      others = axis > 0;
    }
    if (!any_) return;
    if (others) nearest_ = new int[static_cast<std::size_t>(g.count)]{};
    for (int n = 0; others && n < g.count; ++n) nearest_[n] = unknown;
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
  constexpr ~row_finder() {
    delete[] same_;
    delete[] nearest_;
  }

  /// Whether there is anything to find.
  constexpr bool any() const { return any_; }

  /// Whether node `n` folds rows of the kernel with this root, whose members so far `p` tells.
  constexpr bool joins(int n, int root, const kernel_partition& p) const {
    if (!any() || !folds_rows(g_, n) || !keeps_rows(g_, n)) return false;
    const op_kind kind = g_[root].kind();
    if (kind != op_kind::map && kind != op_kind::assign && !folds_rows(g_, root)) return false;
    if (!are_same(g_.operand(n, 0), space_of(g_, root)) || row_axis_of(g_, n) != axis_for(root, p)) return false;
    int folds = 2;
    for (int m = p.first_member[root]; m >= 0; m = p.next_member[m])
      if (!g_[m].is_map()) folds += g_[m].kind() == op_kind::row ? 2 : 1;
    return folds <= max_row_folds;
  }

  /// Whether the map `n` will be computed once for each row: from folds that join it in the kernel, if its other users
  /// let them.
  constexpr bool once_a_row(int n, int root, const kernel_partition& p, int depth = 4) const {
    if (!any() || depth == 0) return false;
    const int axis = axis_for(root, p);
    if (axis < 0 || !is_column(g_[n].shape, axis)) return false;
    for (int k = 0; k < g_[n].count; ++k) {
      const int o = g_.operand(n, k);
      if (g_[o].is_map() ? once_a_row(o, root, p, depth - 1) : joins(o, root, p) && is_used_in(o, n, root, p))
        return true;
    }
    return false;
  }

 private:
  static constexpr int unknown = -2;

  constexpr int set_of(int n) const {
    while (same_[n] != n) n = same_[n] = same_[same_[n]];
    return n;
  }
  constexpr bool are_same(int a, int b) const {
    return set_of(a) == set_of(b) || (g_[a].shape == g_[b].shape && g_[a].shape.is_static());
  }
  /// The axis of the rows of the kernel with this root: that of the folds that it has, or of those that it may get. Of
  /// these the last, if one is over it, for its rows lie along memory; else that of the one nearest to the root.
  constexpr int axis_for(int root, const kernel_partition& p) const {
    const op_kind kind = g_[root].kind();
    if (kind != op_kind::map && kind != op_kind::assign) return row_axis_of(g_, root);
    if (!nearest_) return 0;
    if (const int axis = row_axis_of_kernel(g_, p, root); axis >= 0) return axis;
    if (nearest_[root] == unknown) nearest_[root] = find_axis(root);
    return nearest_[root];
  }
  constexpr int find_axis(int root) const {
    int axis = -1;
    const scratch_array<bool> below(g_.count);  // what the root is computed from, through folds and maps
    below.get()[root] = true;
    for (int m = root; m >= 0 && axis != 0; --m) {
      if (!below.get()[m]) continue;
      const bool folds = folds_rows(g_, m) && keeps_rows(g_, m) && are_same(g_.operand(m, 0), root);
      if (folds && (axis < 0 || row_axis_of(g_, m) == 0)) axis = row_axis_of(g_, m);
      for (int k = 0; k < g_[m].count && (folds || m == root || g_[m].is_map()); ++k)
        below.get()[g_.operand(m, k)] = true;
    }
    return axis;
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
  int* nearest_ = nullptr;  // per root of maps: find_axis of it, once it was asked; null: all rows are along the last
  bool any_ = false;        // a member: comparing pointers is no constant expression under -fsanitize=undefined
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
