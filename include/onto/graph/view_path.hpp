// SPDX-License-Identifier: BSL-1.0
// Maps that are seen through views inside one kernel: `transpose(exp(x)) + y` loads `x` transposed and runs once. What
// is below a view has the index space of the view's operand. `path_of[n]` is the view path of a node in its kernel: the
// view right above it or above what it is an operand of; -1 is the kernel's own space.
#pragma once

#include <onto/graph/kernels.hpp>
#include <onto/graph/made_operation.hpp>
#include <onto/graph/reshapes.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/ops/view.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

ONTO_INLINE constexpr bool is_roll(const graph_view& g, int n) {
  return g[n].kind() == op_kind::view && view_of(*g[n].op) == view_kind::roll;
}

/// Whether the views from `n` down are of contiguous memory, where what is below them is laid out by itself.
constexpr bool is_flat(const graph_view& g, const kernel_partition& p, int n) {
  while (g[n].kind() == op_kind::view && !p.runs(n)) {
    if (view_of(*g[n].op) != view_kind::reshape && !takes_rows(*g[n].op)) return false;
    n = g.operand(n, 0);
  }
  return true;
}

/// The node whose shape is the space of a kernel: of a reduction and of a reshape, the operand.
constexpr int space_of(const graph_view& g, int root) {
  return g[root].kind() == op_kind::reduce || is_reshape(g, root) ? g.operand(root, 0) : root;
}

/// The shape at the end of a view path of the kernel with this root.
constexpr const extents& shape_of_path(const graph_view& g, int root, int path) {
  return g[path >= 0 ? g.operand(path, 0) : space_of(g, root)].shape;
}

/// Along which axis of its operand a view walks where it is walked along `axis`; axes count from the last one, as they
/// do in broadcasting.
constexpr int axis_below(const graph_view& g, int view, int axis) {
  if (axis >= g[view].shape.rank || view_of(*g[view].op) != view_kind::permute) return axis;
  const int rank = g[view].shape.rank;
  return rank - 1 - permuted_axis(*g[view].op, rank - 1 - axis, rank);
}
constexpr int axis_below_path(const graph_view& g, const int* path_of, int path) {
  return path < 0 ? 0 : axis_below(g, path, axis_below_path(g, path_of, path_of[path]));
}

/// Counts the operands that a kernel would read transposed, not along memory, if it made the value of a node itself.
struct transposed_operands {
  static constexpr int most = 1;    // a measurement: docs/adr/0021-index-maps.md
  static constexpr int reach = 48;  // nodes that are looked at

  const graph_view& g;
  int count = 0;
  int steps = 0;
  int first = -1;

  constexpr void add(int n, int axis) {
    if (++steps > reach) count = most + 1;
    const extents& e = g[n].shape;
    // Where there is no such axis, or extent 1, it is one element for all.
    if (count > most || axis >= e.rank || e.dims[e.rank - 1 - axis] == 1) return;
    if (g[n].kind() == op_kind::view) return add(g.operand(n, 0), axis_below(g, n, axis));
    if (g[n].is_map()) {
      for (int k = 0; k < g[n].count; ++k) add(g.operand(n, k), axis);
      return;
    }
    bool next = true;  // whether elements along the axis are next to each other
    for (int k = e.rank - axis; k < e.rank; ++k) next = next && e.dims[k] == 1;
    if (next || n == first) return;
    first = n;
    ++count;
  }
};

/// Whether a view of what is below it costs a kernel no more than a copy of that would.
constexpr bool reads_along_memory(const graph_view& g, const int* path_of, int view, int path) {
  transposed_operands t{g};
  t.add(view, axis_below_path(g, path_of, path));
  return t.count <= transposed_operands::most;
}

/// How often kernels other than products, which take any order, read a transposed view `n` element by element.
constexpr int transposed_reads(const graph_view& g, const kernel_partition& p, int n) {
  if (view_of(*g[n].op) != view_kind::permute || axis_below(g, n, 0) == 0) return 0;
  int reads = 0;
  int last = -1;
  for (int u = n + 1; u < g.count; ++u) {
    for (int k = 0; k < g[u].count; ++k) {
      const int kernel = p.kernel_of[u];
      if (g.operand(u, k) != n || kernel < 0 || kernel == last || !(g[u].request == g[n].request)) continue;
      const op_kind kind = g[kernel].kind();
      if (kind == op_kind::row)
        reads += softmax_axis(*g[u].op, g[n].shape.rank) + 1 == g[n].shape.rank ? 3 : 1;
      else if (kind == op_kind::map || kind == op_kind::reduce || kind == op_kind::assign)
        ++reads;
      last = kernel;
    }
  }
  return reads;
}

/// Whether a reshape whose operand's elements are no strides in it can be in the kernel: the kernel's space is then one
/// of smaller extents in which they are. `split`, per node, is the kernel such a reshape, or a roll, is in, or -1: the
/// elements of a roll are no strides in smaller extents.
constexpr bool may_split(const graph_view& g, const int* split, int n, int root) {
  const extents &space = shape_of_path(g, root, -1), &to = g[n].shape, &from = g[g.operand(n, 0)].shape;
  if (!(space.is_static() && to.is_static() && from.is_static())) {
    // What is flattened can be taken apart again, if nothing else is.
    if (space.rank != 1 || to.rank != 1) return false;
    for (int u = n + 1; u < g.count; ++u)
      if (split[u] == root) return false;
    return true;
  }
  if (!(to == space)) return false;
  extents all = space;
  if (!refine(all, from, all, nullptr)) return false;
  for (int u = n + 1; u < g.count; ++u)
    if (split[u] == root && (is_roll(g, u) || !refine(all, g[g.operand(u, 0)].shape, all, nullptr))) return false;
  return true;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
