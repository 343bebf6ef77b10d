// SPDX-License-Identifier: BSL-1.0
// The epilogue of a matrix product: what its kernel does beside multiplying, as BLAS libraries have it.
#pragma once

#include <onto/graph/node_uses.hpp>
#include <onto/ops/all.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether two nodes are asked for at one place, and run on the same kinds of devices.
constexpr bool same_devices(const graph_view& g, int a, int b) {
  const op_info& x = *g[a].op;
  const op_info& y = *g[b].op;
  const element_set p = element_bit(g.kernel_element(a));
  const element_set q = element_bit(g.kernel_element(b));
  return g[a].request == g[b].request && ((x.kernels.cpu & p) != 0) == ((y.kernels.cpu & q) != 0) &&
         ((x.kernels.gpu & p) != 0) == ((y.kernels.gpu & q) != 0);
}

/// What a matrix product does beside multiplying; node indices, or -1.
struct matmul_epilogue {
  int product = -1;  // the MatMul node
  int alpha = -1;    // scalar node
  int beta = -1;     // scalar node
  int addend = -1;   // added node
  int scaled = -1;   // beta * addend
  int sign_product = 1;
  int sign_addend = 1;
  bool relu = false;
};

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

/// Finds `relu(alpha * matmul + beta * c)` above the product `m`; returns the root, fills `e`.
constexpr int match_epilogue(const graph_view& g, const node_uses& uses, int m, matmul_epilogue& e) {
  e.product = m;
  int top = m;
  if (!is_floating(g[m].type)) return top;
  int u = uses.only_user(top);
  if (u >= 0 && is_operation<op::mul>(g[u].op) && same_devices(g, u, m)) {
    const int other = g.operand(u, 0) == top ? g.operand(u, 1) : g.operand(u, 0);
    if (g[other].kind() == op_kind::scalar) {
      e.alpha = other;
      top = u;
      u = uses.only_user(top);
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
      e.scaled = beta >= 0 ? other : -1;
      if (subtracts) (left ? e.sign_addend : e.sign_product) = -1;
      top = u;
      u = uses.only_user(top);
    }
  }
  if (u >= 0 && is_operation<op::relu>(g[u].op) && same_devices(g, u, m)) {
    e.relu = true;
    top = u;
  }
  return top;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
