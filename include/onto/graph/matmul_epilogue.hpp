// SPDX-License-Identifier: BSL-1.0
// The epilogue of a product, of matrices or a convolution: what its kernel does beside multiplying, as BLAS libraries
// and cuDNN have it.
#pragma once

#include <onto/graph/node_uses.hpp>
#include <onto/graph/reshapes.hpp>
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

/// What a product does beside multiplying; node indices, or -1.
struct matmul_epilogue {
  int product = -1;  // the MatMul or convolution node
  int alpha = -1;    // scalar node
  int beta = -1;     // scalar node
  int addend = -1;   // added node
  int scaled = -1;   // beta * addend
  int sign_product = 1;
  int sign_addend = 1;
  bool relu = false;
  int view = -1;  // the same elements in another shape, which is that of the result
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

/// The scalar that node `n` multiplies something by, as an operand's number: 0, 1, or -1 where it does not.
constexpr int scalar_factor(const graph_view& g, int n) {
  if (!is_operation<op::mul>(g[n].op)) return -1;
  const bool first = g[g.operand(n, 0)].kind() == op_kind::scalar,
             second = g[g.operand(n, 1)].kind() == op_kind::scalar;
  return first == second ? -1 : first ? 0 : 1;
}

/// Whether adding `n` in the kernel of a convolution would cost another kernel: a map that nothing else reads is else
/// computed where it is added.
constexpr bool is_computed_where_added(const graph_view& g, const node_uses& uses, int n) {
  for (; uses[n] == 1; n = g.operand(n, 0)) {
    if (g[n].is_map()) return true;
    if (g[n].kind() != op_kind::view) return false;
  }
  return false;
}

/// Makes the sum or difference `u` of `top` and something part of the epilogue of the product, if it can be.
constexpr bool match_addend(const graph_view& g, const node_uses& uses, int top, int u, matmul_epilogue& e) {
  const bool subtracts = is_operation<op::sub>(g[u].op);
  if ((!subtracts && !is_operation<op::add>(g[u].op)) || !same_devices(g, u, e.product)) return false;
  const bool left = g.operand(u, 0) == top;
  const int other = left ? g.operand(u, 1) : g.operand(u, 0);
  const int factor = uses[other] == 1 && same_devices(g, other, e.product) ? scalar_factor(g, other) : -1;
  const int addend = factor < 0 ? other : g.operand(other, 1 - factor);
  const int whole = e.view >= 0 ? e.view : e.product;
  if (addend == top || g[addend].kind() == op_kind::scalar || !fits_into(g[addend].shape, g[whole].shape) ||
      (e.view >= 0 && g[addend].shape.rank > 0 && !keeps_axes(g, e.view)))
    return false;
  if (g[e.product].kind() != op_kind::matmul && is_computed_where_added(g, uses, addend)) return false;
  e.addend = addend;
  if (factor >= 0) {
    e.beta = g.operand(other, factor);
    e.scaled = other;
  }
  if (subtracts) (left ? e.sign_addend : e.sign_product) = -1;
  return true;
}

/// Makes the assignment `u` of `top` to a variable of its shape part of the kernel: the result is the variable's new
/// value, and what is added is the old one. *Returns* whether it can be.
constexpr bool match_assignment(const graph_view& g, int top, int u, matmul_epilogue& e) {
  if (g[u].kind() != op_kind::assign || g.operand(u, 1) != top || g.operand(u, 0) == top ||
      !same_devices(g, u, e.product))
    return false;
  const int variable = g.operand(u, 0);
  if (!(g[variable].shape == g[top].shape) || !g[top].shape.is_static()) return false;
  if (is_operation<op::assign>(g[u].op)) return true;
  if (e.addend >= 0 || e.relu) return false;
  e.addend = variable;
  if (is_operation<op::assign_sub>(g[u].op)) e.sign_product = -1;
  return true;
}

/// Finds `relu(alpha * product + beta * c)` above the product `m`, or above a matrix product's elements in another
/// shape, as that with a vector has them: then `c` is one number, or seen in the product's shape by strides. What is
/// fetched in that shape, or assigned to a variable there, is the kernel's result. Returns the root, fills `e`.
constexpr int match_epilogue(const graph_view& g, const node_uses& uses, int m, matmul_epilogue& e) {
  e.product = m;
  int top = m;
  int u = uses.only_user(top);
  if (g[m].op->only_assigned)
    return u >= 0 && is_operation<op::assign>(g[u].op) && match_assignment(g, top, u, e) ? u : top;
  if (!is_floating(g[m].type)) return top;
  if (u >= 0 && g[m].kind() == op_kind::matmul && is_reshape(g, u) && same_devices(g, u, m)) {
    e.view = top = u;
    u = uses.only_user(top);
  }
  if (u >= 0 && scalar_factor(g, u) >= 0 && same_devices(g, u, m)) {
    e.alpha = g.operand(u, scalar_factor(g, u));
    top = u;
    u = uses.only_user(top);
  }
  if (u >= 0 && match_addend(g, uses, top, u, e)) {
    top = u;
    u = uses.only_user(top);
  }
  if (u >= 0 && is_operation<op::relu>(g[u].op) && same_devices(g, u, m)) {
    e.relu = true;
    top = u;
    u = uses.only_user(top);
  }
  if (u >= 0 && match_assignment(g, top, u, e)) top = u;
  if (top != m && top == e.view && uses.user[top] >= 0) {  // what reads it sees it so without a kernel
    e.view = -1;
    top = m;
  }
  return top;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
