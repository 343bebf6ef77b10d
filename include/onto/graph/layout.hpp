// SPDX-License-Identifier: BSL-1.0
// Where a node's elements are: views are strides and an offset into the memory of the node below them.
#pragma once

#include <onto/graph/fuse.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// An offset and strides, in elements, into a contiguous block.
struct view_layout {
  std::int64_t offset = 0;
  std::int64_t stride[max_rank] = {};
};

/// One view over `below`. A reshape is only ever over contiguous memory: others are kernels.
constexpr view_layout look_through(const op_info& op, const view_layout& below, const extents& shape_below,
                                   const extents& shape) {
  view_layout r;
  r.offset = below.offset;
  if (op.attribute[0] == static_cast<int>(view_kind::permute)) {
    for (int k = 0; k < shape.rank; ++k)
      r.stride[k] = below.stride[normalize_axis(static_cast<int>(op.attribute[2 + k]), shape.rank)];
  } else if (op.attribute[0] == static_cast<int>(view_kind::reshape)) {
    contiguous_strides(shape, r.stride);
  } else {
    const int ranges = static_cast<int>(op.attribute[1]);
    for (int k = 0; k < shape.rank; ++k) {
      r.stride[k] = below.stride[k];
      if (k >= ranges) continue;
      const std::int64_t step = op.attribute[4 + 3 * k];
      const selection range = select_range(op.attribute[2 + 3 * k], op.attribute[3 + 3 * k], step, shape_below.dims[k]);
      r.offset += range.first * below.stride[k];
      r.stride[k] *= step;
    }
  }
  return r;
}

/// The layout of node `n`'s elements in the memory of node `held` below its views, where that is in memory by itself.
constexpr view_layout layout_of(const graph_view& g, const int* root, const extents* shapes, int n, int held) {
  if (n != held && g[n].kind() == op_kind::view && root[n] < 0) {
    const int below = g.operand(n, 0);
    return look_through(*g[n].op, layout_of(g, root, shapes, below, held), shapes[below], shapes[n]);
  }
  view_layout r;
  contiguous_strides(shapes[n], r.stride);
  return r;
}

/// Strides of `from` over a space it broadcasts to.
constexpr void broadcast_strides(const extents& from, const std::int64_t* stride, const extents& space,
                                 std::int64_t* out) {
  for (int k = 0; k < max_rank; ++k) out[k] = 0;
  const int lead = space.rank - from.rank;
  for (int k = 0; k < from.rank; ++k) out[lead + k] = from.dims[k] == 1 && space.dims[lead + k] != 1 ? 0 : stride[k];
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
