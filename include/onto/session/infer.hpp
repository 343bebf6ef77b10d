// SPDX-License-Identifier: BSL-1.0
// Shapes at run time: what the compiler could not know is inferred from the feeds before anything runs.
#pragma once

#include <onto/graph/made_operation.hpp>
#include <onto/ops/assign.hpp>
#include <onto/plan/node_names.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_shape_fault(const graph_view& g, const extents* shapes, int n,
                                                                   const inferred& found) {
  const shape_fault f = found.fault;
  // What is taken by number is a slice of one element without its axis, and past the end there is none.
  const int taken = f == shape_fault::size ? g.operand(n, 0) : n;
  if (taken != n && g[taken].kind() == op_kind::view && view_of(*g[taken].op) == view_kind::slice) {
    extents one = shapes[taken];
    for (int k = 0; k < one.rank; ++k) one.dims[k] += one.dims[k] == 0;
    if (shapes[taken].size() == 0 && one.size() == found.shape.size())
      throw_shape_fault(g, shapes, taken, {one, shape_fault::few});
  }
  message m("[onto.shape] ");
  write_name(m, g, n);
  m << " (" << g[n].op->name << "): ";
  m << shape_sentences[static_cast<int>(f)];
  for (int k = 0; k < g[n].count; ++k) {
    int o = g.operand(n, k);
    // A matrix of one row or column that was made of a vector has the vector's name.
    if (f == shape_fault::inner && g[o].kind() == op_kind::view && shapes[o].rank == 2 &&
        shapes[g.operand(o, 0)].rank == 1)
      o = g.operand(o, 0);
    m << (k ? ", " : "; operands: ");
    if (g[o].kind() == op_kind::scalar)
      m << "scalar";
    else
      write_name(m, g, o);
    m << " " << shapes[o];
  }
  if (f == shape_fault::size || f == shape_fault::few) m << "; asked for: " << found.shape;
  fail<invalid_argument_error>(m);
}

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_no_extents(const graph_node& variable, const extents& value) {
  fail<invalid_argument_error>(message("[onto.variable] variable '")
                               << variable.name << "' gets its extents from its first value; assign one of rank "
                               << variable.shape.rank << ", not of rank " << value.rank);
}

/// Infers the shapes of all operations from those of the leaves; each result is of a size that can be counted in bytes,
/// whether it will be in memory or not. A variable of unknown extents takes those of the first
/// value that is assigned to it. *Throws* `invalid_argument_error` naming the operation, its operands and their shapes.
inline void infer_shapes(const graph_view& g, extents* shapes) {
  extents operands[max_operands];
  for (int n = 0; n < g.count; ++n) {
    if (g[n].is_leaf()) continue;
    if (is_operation<op::assign>(g[n].op)) {
      extents& variable = shapes[g.operand(n, 0)];
      const extents& value = shapes[g.operand(n, 1)];
      if (!variable.is_static() && value.rank == variable.rank) variable = value;
      if (!variable.is_static()) throw_no_extents(g[g.operand(n, 0)], value);
    }
    if (g[n].op->has_letters) {
      for (int k = 0; k < 2; ++k) {
        int o = g.operand(n, k);  // and below the reshapes that join its axes
        while (shapes[o].rank < g[n].op->attribute[k] && g[o].kind() == op_kind::view) o = g.operand(o, 0);
        operands[k] = shapes[o];
      }
      g[n].op->check_letters(operands);
    }
    for (int k = 0; k < g[n].count && k < max_operands; ++k) operands[k] = shapes[g.operand(n, k)];
    const inferred r = infer_shape(*g[n].op, {g, shapes}, operands, g[n].count);
    if (r.fault != shape_fault::none) throw_shape_fault(g, shapes, n, r);
    if (g[n].made >= 0 && !r.shape.is_static())
      fail<internal_error>(message("[onto.gradient] the extents of ") << g[n].op->name << " cannot be found");
    if (!r.shape.fits(size_of(g[n].type))) throw_shape_fault(g, shapes, n, {r.shape, shape_fault::bytes});
    shapes[n] = r.shape;
  }
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
