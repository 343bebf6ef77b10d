// SPDX-License-Identifier: BSL-1.0
// Reshapes: the same elements, in their order, in another shape; when they are strides there.
#pragma once

#include <onto/graph/made_operation.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether a node has its operand's elements, in their order, in a shape of its own.
constexpr bool is_reshape(const graph_view& g, int n) {
  return g[n].kind() == op_kind::view && view_of(*g[n].op) == view_kind::reshape;
}

/// Strides of the elements of `from` in another shape. *Returns* false where they are no strides there.
constexpr bool reshape_strides(const extents& from, const std::int64_t* stride, const extents& to, std::int64_t* out) {
  for (int k = 0; k < max_rank; ++k) out[k] = 0;
  if (to.size() == 0) return true;
  int d = from.rank;
  std::int64_t rest = 1, step = 0;  // of neighbours in `from` that are one: what is left of them, and the stride there
  for (int k = to.rank - 1; k >= 0; --k) {
    const std::int64_t e = to.dims[k];
    if (e == 1) continue;
    while (rest == 1) {
      if (--d < 0) return false;
      rest = from.dims[d];
      step = stride[d];
    }
    while (d > 0 && (from.dims[d - 1] == 1 || stride[d - 1] == step * rest)) rest *= from.dims[--d];
    out[k] = step;
    if (rest % e != 0) return false;
    rest /= e;
    step *= e;
  }
  return true;
}

/// A space in which both shapes, of as many elements, are a matter of joining neighbours. `axis`, or null, gets for
/// each of its extents the one of `from` that it is part of. *Returns* false where there is none.
constexpr bool refine(const extents& from, const extents& with, extents& out, int* axis) {
  int dims[max_rank]{}, source[max_rank]{};
  int count = 0, j = with.rank;
  std::int64_t b = 1;
  for (int i = from.rank - 1; i >= 0; --i) {
    std::int64_t a = from.dims[i];
    if (a == 0) return false;
    bool first = true;
    while (a != 1 || first) {
      first = false;
      while (a != 1 && b == 1) {
        if (--j < 0) return false;
        b = with.dims[j];
        if (b == 0) return false;
      }
      const std::int64_t f = a == 1 ? 1 : a < b ? a : b;
      if (a % f != 0 || b % f != 0 || count == max_rank) return false;
      source[count] = i;
      dims[count++] = static_cast<int>(f);
      a /= f;
      b /= f;
    }
  }
  out = extents{};
  for (int k = 0; k < count; ++k) {
    out.push_back(dims[count - 1 - k]);
    if (axis) axis[k] = source[count - 1 - k];
  }
  return b == 1;
}

/// Whether a reshape is one of strides whatever the strides below: it puts in or leaves out extents of 1.
constexpr bool keeps_axes(const graph_view& g, int n) {
  const extents &from = g[g.operand(n, 0)].shape, &to = g[n].shape;
  if (from.rank <= 1) return true;
  if (from.is_static() && to.is_static()) {
    int d = 0, k = 0;
    while (d < from.rank || k < to.rank) {
      if (d < from.rank && from.dims[d] == 1)
        ++d;
      else if (k < to.rank && to.dims[k] == 1)
        ++k;
      else if (d == from.rank || k == to.rank || from.dims[d++] != to.dims[k++])
        return false;
    }
    return true;
  }
  int axis = -1;
  for (int k = 0; k < named_extents(*g[n].op); ++k) {
    const std::int64_t e = named_extent(*g[n].op, k);
    if (e == 1) continue;
    // A number, an axis that is not after the last one, or an extent of another node.
    if (e > same_as_axis(axis + 1) || e <= made_extent) return false;
    axis = static_cast<int>(-2 - e);
  }
  return true;
}

/// Whether it does nothing else: strides of the result are strides of what is below as well, so that this can be
/// written where the result lies. A vector in several axes has strides whatever its own is, but not the other way.
constexpr bool moves_axes_of_one(const graph_view& g, int n) {
  int longer = 0;
  for (int k = 0; k < g[n].shape.rank; ++k) longer += g[n].shape.dims[k] == 1 ? 0 : 1;
  return keeps_axes(g, n) && (g[g.operand(n, 0)].shape.rank > 1 || longer <= 1);
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
