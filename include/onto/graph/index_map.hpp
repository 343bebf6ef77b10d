// SPDX-License-Identifier: BSL-1.0
// Where a node's elements are: views are strides and an offset into the memory of the node below them, and of a roll
// how much further along an axis they are read, around its end.
#pragma once

#include <onto/graph/view_path.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// An offset and strides, in elements, into a contiguous block.
struct view_layout {
  std::int64_t offset = 0;
  std::int64_t stride[max_rank] = {};
  int rolled[max_rank] = {};  // along each axis, see rolled_by
  bool rolls = false;
};

/// Strides of `from` over a space it broadcasts to.
constexpr void broadcast_strides(const extents& from, const std::int64_t* stride, const extents& space,
                                 std::int64_t* out) {
  for (int k = 0; k < max_rank; ++k) out[k] = 0;
  const int lead = space.rank - from.rank;
  for (int k = 0; k < from.rank; ++k) out[lead + k] = from.dims[k] == 1 && space.dims[lead + k] != 1 ? 0 : stride[k];
}

/// A layout over a space that its extents broadcast to.
ONTO_INLINE constexpr void broadcast_layout(const extents& from, const view_layout& l, const extents& space,
                                            view_layout& out) {
  broadcast_strides(from, l.stride, space, out.stride);
  if (!l.rolls) return;
  const int lead = space.rank - from.rank;
  for (int k = 0; k < max_rank; ++k) out.rolled[k] = k < lead || k >= space.rank ? 0 : l.rolled[k - lead];
}

/// Another roll of a layout. Kernels read through rolls alone, and other views below them: see `fuser::joins_roll`.
ONTO_INLINE constexpr void roll_layout(view_layout& l, const op_info& op, const extents& shape) {
  const int axis = rolled_axis(op, shape.rank), extent = shape.dims[axis], by = rolled_by(op, extent);
  l.rolled[axis] = extent - l.rolled[axis] > by ? l.rolled[axis] + by : l.rolled[axis] + by - extent;
  l.rolls = true;
}

/// One view over `below`, whose elements are strides in it, too.
constexpr view_layout look_through(const op_info& op, const view_layout& below, const extents& shape_below,
                                   const extents& shape) {
  view_layout r;
  r.offset = below.offset;
  if (view_of(op) == view_kind::permute) {
    for (int k = 0; k < shape.rank; ++k) r.stride[k] = below.stride[permuted_axis(op, k, shape.rank)];
  } else if (view_of(op) == view_kind::reshape) {
    reshape_strides(shape_below, below.stride, shape, r.stride);
  } else if (view_of(op) == view_kind::broadcast) {
    broadcast_strides(shape_below, below.stride, shape, r.stride);
  } else if (view_of(op) == view_kind::roll) {
    r = below;
    roll_layout(r, op, shape);
  } else {
    for (int k = 0; k < shape.rank; ++k) {
      r.stride[k] = below.stride[k];
      if (k >= range_count(op)) continue;
      const slice_range named = range_of(op, k);
      const selection range = select_range(named.begin, named.end, named.step, shape_below.dims[k]);
      r.offset += range.first * below.stride[k];
      r.stride[k] *= named.step;
    }
  }
  return r;
}

/// The layout of node `n`'s elements in the memory of node `held` below its views, where that is in memory by itself.
constexpr view_layout layout_of(const graph_view& g, const kernel_partition& p, const extents* shapes, int n,
                                int held) {
  if (n != held && g[n].kind() == op_kind::view && !p.runs(n)) {
    const int below = g.operand(n, 0);
    return look_through(*g[n].op, layout_of(g, p, shapes, below, held), shapes[below], shapes[n]);
  }
  view_layout r;
  contiguous_strides(shapes[n], r.stride);
  return r;
}

/// Where the elements of a kernel's operand are, by an index of the kernel's space.
struct index_map {
  view_layout layout{};
  extents over{};  // the kernel's space; where the elements are no strides there, another shape of as many elements
  bool split = false;
};

/// Where the elements of node `o`, in the memory of `held`, are in the space of a kernel that reads it through `path`.
constexpr index_map index_map_of(const graph_view& g, const kernel_partition& p, const int* path_of,
                                 const extents* shapes, int o, int held, int path, const extents& space) {
  index_map r;
  int seen = o;  // of what views were taken off
  if (o != held && is_reshape(g, o) && !p.runs(o)) seen = g.operand(o, 0);
  r.layout = layout_of(g, p, shapes, seen, held);
  r.over = shapes[seen];
  while (true) {
    const bool viewed = seen != o;
    if (!viewed && path < 0) break;
    const int view = viewed ? o : path;
    const extents& below = shapes[g.operand(view, 0)];
    view_layout l = r.layout;
    broadcast_layout(r.over, r.layout, below, l);
    if (is_reshape(g, view)) {
      r.layout.offset = l.offset;
      if (!reshape_strides(below, l.stride, shapes[view], r.layout.stride)) {
        r.layout = l;
        r.over = below;
        r.split = true;
        return r;
      }
    } else {
      r.layout = look_through(*g[view].op, l, below, shapes[view]);
    }
    r.over = shapes[view];
    if (viewed)
      seen = o;
    else
      path = path_of[path];
  }
  view_layout l = r.layout;
  broadcast_layout(r.over, r.layout, space, l);
  r.layout = l;
  r.over = space;
  return r;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
