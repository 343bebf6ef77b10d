// SPDX-License-Identifier: BSL-1.0
// Fusion: which nodes run together as one kernel. Decided from operations and requests alone, so it is the same on
// every machine.
#pragma once

#include <onto/graph/graph.hpp>
#include <onto/graph/rows.hpp>
#include <onto/graph/seen.hpp>
#include <onto/ops/all.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What a matrix product does beside multiplying; node indices, or -1.
struct matmul_epilogue {
  int product = -1;  // the MatMul node
  int alpha = -1;    // scalar node
  int beta = -1;     // scalar node
  int addend = -1;   // added node
  int sign_product = 1;
  int sign_addend = 1;
  bool relu = false;
};

/// The result of fusion: for each node the node at the root of its kernel, or -1 where nothing runs (leaves, views).
struct fusion_view {
  int* root = nullptr;
  int* uses = nullptr;    // how often a node is used, by operations and fetches
  int* target = nullptr;  // while fusing: the one kernel all consumers are in
  int* via = nullptr;     // the frame of a node in its kernel, see seen.hpp; while fusing: the one all consumers are in
  int* split = nullptr;   // while fusing: of some reshapes, the kernel they are in
};

/// An operation dearer than this is not recomputed for each element of a broadcast.
inline constexpr int recompute_limit = 8;

constexpr bool same_devices(const graph_view& g, int a, int b) {
  const op_info& x = *g[a].op;
  const op_info& y = *g[b].op;
  const element_set p = element_bit(g.kernel_element(a));
  const element_set q = element_bit(g.kernel_element(b));
  return g[a].request == g[b].request && ((x.kernels.cpu & p) != 0) == ((y.kernels.cpu & q) != 0) &&
         ((x.kernels.gpu & p) != 0) == ((y.kernels.gpu & q) != 0);
}

/// Whether `small` certainly has fewer elements than `large`, to which it broadcasts.
constexpr bool stretches(const extents& small, const extents& large) {
  for (int k = 1; k <= large.rank; ++k) {
    const int x = k <= small.rank ? small.dims[small.rank - k] : 1;
    if (x == 1 && large.dims[large.rank - k] != 1) return true;
  }
  return false;
}

/// Whether `x`, added to something of shape `whole`, leaves that shape as it is, as far as extents are known.
constexpr bool fits_into(const extents& x, const extents& whole) {
  if (x.rank > whole.rank) return false;
  for (int k = 1; k <= x.rank; ++k) {
    const int e = x.dims[x.rank - k];
    const int w = whole.dims[whole.rank - k];
    if (e != 1 && e != dyn && w != dyn && e != w) return false;
    if (e != 1 && e != dyn && w == 1) return false;
  }
  return true;
}

/// Whether what is below a frame certainly has fewer elements than the kernel's space, so that they are met again and
/// again.
constexpr bool repeats(const graph_view& g, const fusion_view& v, int root, int frame) {
  for (; frame >= 0; frame = v.via[frame])
    if (stretches(g[frame].shape, shape_of_frame(g, root, v.via[frame]))) return true;
  return false;
}

/// Extents are equal for certain.
constexpr bool surely_equal(const extents& a, const extents& b) { return a == b && a.is_static(); }

/// What is left of a node once views are taken off: the node whose memory is looked at.
constexpr int base_of(const graph_view& g, const int* root, int n) {
  while (g[n].kind() == op_kind::view && root[n] < 0) n = g.operand(n, 0);
  return n;
}

/// Whether an element's index in a frame is its index in the kernel's space.
constexpr bool keeps_index(const graph_view& g, const fusion_view& v, int root, int frame) {
  for (; frame >= 0; frame = v.via[frame])
    if (!is_reshape(g, frame) || !surely_equal(g[frame].shape, shape_of_frame(g, root, v.via[frame]))) return false;
  return true;
}

/// From this many kernels on that read a turned value, a copy that they read along memory is faster. A measurement:
/// docs/adr/0021-index-maps.md.
inline constexpr int copied_reads = 3;

constexpr bool is_slice(const graph_view& g, int n) { return view_of(*g[n].op) == view_kind::slice; }

/// Whether the kernel of a view, if it has one, makes what the view is of: nothing else needs that.
constexpr bool makes_operand(const graph_view& g, const fusion_view& v, int n) {
  const int below = g.operand(n, 0);
  return g[below].kind() == op_kind::map && v.uses[below] == 1 && v.root[below] < 0 && same_devices(g, below, n) &&
         reads_along_memory(g, v.via, n, -1);
}

/// The only user of node `n` if there is one, searched above it; -1 else.
constexpr int only_user(const graph_view& g, const int* uses, int n) {
  if (uses[n] != 1) return -1;
  for (int u = n + 1; u < g.count; ++u)
    for (int k = 0; k < g[u].count; ++k)
      if (g.operand(u, k) == n) return u;
  return -1;
}

/// How often each node is used, and the last of those that use it.
struct node_uses {
  const int* count = nullptr;
  const int* user = nullptr;

  constexpr int operator[](int n) const { return count[n]; }
};
constexpr int only_user(const graph_view&, const node_uses& uses, int n) { return uses[n] == 1 ? uses.user[n] : -1; }

/// Finds `relu(alpha * matmul + beta * c)` above the product `m`; returns the root, fills `e`.
template <class Uses>
constexpr int match_epilogue(const graph_view& g, const Uses& uses, int m, matmul_epilogue& e) {
  e.product = m;
  int top = m;
  if (!is_floating(g[m].type)) return top;
  int u = only_user(g, uses, top);
  if (u >= 0 && is_operation<op::mul>(g[u].op) && same_devices(g, u, m)) {
    const int other = g.operand(u, 0) == top ? g.operand(u, 1) : g.operand(u, 0);
    if (g[other].kind() == op_kind::scalar) {
      e.alpha = other;
      top = u;
      u = only_user(g, uses, top);
    }
  }
  if (u >= 0 && (is_operation<op::add>(g[u].op) || is_operation<op::sub>(g[u].op)) && same_devices(g, u, m)) {
    const bool left = g.operand(u, 0) == top;
    const int other = left ? g.operand(u, 1) : g.operand(u, 0);
    const bool subtracts = is_operation<op::sub>(g[u].op);
    int addend = other;
    int beta = -1;
    if (uses[other] == 1 && is_operation<op::mul>(g[other].op) && same_devices(g, other, m)) {
      const int x = g.operand(other, 0);
      const int y = g.operand(other, 1);
      if (g[x].kind() == op_kind::scalar && g[y].kind() != op_kind::scalar) {
        beta = x;
        addend = y;
      } else if (g[y].kind() == op_kind::scalar && g[x].kind() != op_kind::scalar) {
        beta = y;
        addend = x;
      }
    }
    if (addend != top && g[addend].kind() != op_kind::scalar && fits_into(g[addend].shape, g[m].shape)) {
      e.addend = addend;
      e.beta = beta;
      if (subtracts) (left ? e.sign_addend : e.sign_product) = -1;
      top = u;
      u = only_user(g, uses, top);
    }
  }
  if (u >= 0 && is_operation<op::relu>(g[u].op) && same_devices(g, u, m)) {
    e.relu = true;
    top = u;
  }
  return top;
}

/// Whether the kernel with this root makes maps that it sees through views.
constexpr bool has_frames(const fusion_view& v, int root) {
  for (int n = 0; n < root; ++n)
    if (v.root[n] == root && v.via[n] >= 0) return true;
  return false;
}

/// Groups nodes into kernels. `v` has room for `g.count` entries each. *Complexity* linear in nodes and edges, but for
/// products.
constexpr void fuse(const graph_view& g, const fusion_view& v) {
  constexpr int unset = -2;
  for (int n = 0; n < g.count; ++n) {
    v.root[n] = -1;
    v.uses[n] = 0;
    v.target[n] = unset;
    v.via[n] = -1;
    v.split[n] = -1;
  }
  for (int n = 0; n < g.count; ++n)
    for (int k = 0; k < g[n].count; ++k) ++v.uses[g.operand(n, k)];
  for (int k = 0; k < g.fetch_count; ++k) {
    ++v.uses[g.fetches[k]];
    v.target[g.fetches[k]] = -1;
  }

  // Products first: what follows them is theirs before it is anyone else's.
  for (int m = 0; m < g.count; ++m) {
    if (g[m].kind() != op_kind::matmul) continue;
    matmul_epilogue e;
    int top = match_epilogue(g, v.uses, m, e);
    // Of two products that are added, the first has the sum, and the second is its addend.
    for (int n = m; n != top && top != m;) {
      n = only_user(g, v.uses, n);
      if (v.root[n] >= 0) {
        top = m;
        e = {};
      }
    }
    for (int n = m; n != top;) {
      v.root[n] = top;
      n = only_user(g, v.uses, n);
    }
    v.root[top] = top;
    if (e.beta >= 0)
      for (int n = 0; n < g.count; ++n)
        if (g[n].count == 2 && v.uses[n] == 1 && is_operation<op::mul>(g[n].op) &&
            ((g.operand(n, 0) == e.beta && g.operand(n, 1) == e.addend) ||
             (g.operand(n, 1) == e.beta && g.operand(n, 0) == e.addend)))
          v.root[n] = top;
  }

  // A map joins the kernel of its consumers when they are all in one kernel that takes its elements one by one; a fold
  // over rows, when that kernel goes over the same rows.
  const row_finder rows(g);
  for (int n = g.count - 1; n >= 0; --n) {
    const graph_node& x = g[n];
    if (x.is_leaf()) continue;
    const int wanted = v.target[n];
    int into = -1, frame = -1;  // the kernel and the frame in which operands are seen
    if (v.root[n] >= 0) {
      v.via[n] = -1;  // part of a matrix product
    } else if (x.kind() == op_kind::view) {
      const bool fetched = [&] {
        for (int k = 0; k < g.fetch_count; ++k)
          if (g.fetches[k] == n) return true;
        return false;
      }();
      const int below = g.operand(n, 0);
      const bool flat = is_flat(g, v.root, below);
      const bool strides = !is_reshape(g, n) || keeps_axes(g, n) || (flat && !g[base_of(g, v.root, below)].is_map());
      const bool made_here = makes_operand(g, v, n);
      const bool in_rows = rows.any() && wanted >= 0 && is_row_kernel(g, v.root, wanted);
      const int reads = fetched || (wanted >= 0 && !in_rows) ? 0 : turned_reads(g, v.root, n);
      if (!fetched && wanted >= 0 && !in_rows && reads_along_memory(g, v.via, n, v.via[n]) &&
          (strides || (v.via[n] < 0 && may_split(g, v.split, n, wanted)))) {
        into = wanted;
        frame = n;
        if (!strides) v.split[n] = wanted;
      } else if (fetched || (!strides && !flat) || reads >= copied_reads ||
                 (made_here && (reads > 1 || is_slice(g, n)))) {
        v.root[n] = n;
        v.via[n] = -1;
        if (reads_along_memory(g, v.via, n, -1)) into = n;
        frame = is_reshape(g, n) ? -1 : n;
      }
    } else {
      bool joins = x.is_map() && wanted >= 0 && same_devices(g, n, wanted);
      if (joins) {
        const graph_node& r = g[wanted];
        const extents& space = shape_of_frame(g, wanted, v.via[n]);
        if (x.kind() == op_kind::generator)
          joins = r.kind() != op_kind::reduce && surely_equal(x.shape, space) && keeps_index(g, v, wanted, v.via[n]);
        if (x.op->cost >= recompute_limit && (stretches(x.shape, space) || repeats(g, v, wanted, v.via[n])) &&
            !(v.via[n] < 0 && rows.once_a_row(n, wanted, v.root)))
          joins = false;
      } else if (rows.any() && wanted >= 0 && same_devices(g, n, wanted)) {
        joins = v.via[n] < 0 && !has_frames(v, wanted) && rows.joins(n, wanted, v.root);
      }
      v.root[n] = joins ? wanted : n;
      if (!joins) v.via[n] = -1;
      if (x.is_map() || x.kind() == op_kind::assign || x.kind() == op_kind::reduce || folds_rows(g, n))
        into = v.root[n];
      frame = v.via[n];
    }
    for (int k = 0; k < x.count; ++k) {
      const int o = g.operand(n, k);
      const bool agree = v.target[o] == unset || (v.target[o] == into && v.via[o] == frame);
      v.target[o] = agree ? into : -1;
      v.via[o] = v.target[o] >= 0 ? frame : -1;
    }
  }
}

/// How many nodes run in the kernel with this root.
constexpr int members_of(const graph_view& g, const int* root, int r) {
  int n = 0;
  for (int k = 0; k <= r && k < g.count; ++k) n += root[k] == r ? 1 : 0;
  return n;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
