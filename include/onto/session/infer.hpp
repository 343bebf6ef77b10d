// SPDX-License-Identifier: BSL-1.0
// Shapes at run time: what the compiler could not know is inferred from the feeds before anything runs.
#pragma once

#include <onto/core/error.hpp>
#include <onto/graph/graph.hpp>
#include <onto/plan/node_names.hpp>

#include <string>
#include <vector>

namespace onto::detail {

ONTO_COLD inline const char* describe_fault(shape_fault f) {
  switch (f) {
    case shape_fault::broadcast: return "the operands' extents differ and neither is 1; reshape, slice or transpose one of them";
    case shape_fault::inner: return "columns of the left and rows of the right differ; transpose one with transpose(x)";
    case shape_fault::rank: return "the operand has too few dimensions; add some with reshape";
    case shape_fault::axis: return "an axis is out of range or named twice; axes are -rank to rank - 1";
    case shape_fault::size: return "the numbers of elements differ; one extent may be dyn to be computed";
    case shape_fault::range: return "begin, end or step do not fit the operand's extent";
    case shape_fault::concat: return "the operands differ in rank or in an extent other than the joined axis";
    case shape_fault::empty: return "a minimum or maximum over no elements has no value; give the axis an extent above 0";
    default: return "the shapes do not fit";
  }
}

[[noreturn]] ONTO_COLD inline void throw_shape_fault(const graph_view& g, const std::vector<extents>& shapes, int n, shape_fault f) {
  const std::vector<std::string> names = node_names(g);
  std::string text = "[onto.shape] " + names[static_cast<std::size_t>(n)] + " (" + std::string(g[n].op->name) + "): " + describe_fault(f);
  for (int k = 0; k < g[n].count; ++k) {
    const int o = g.operand(n, k);
    const std::string& name = names[static_cast<std::size_t>(o)];
    text += (k ? ", " : "; operands: ") + (name.empty() ? std::string("scalar") : name) + " " + to_string(shapes[static_cast<std::size_t>(o)]);
  }
  throw invalid_argument_error(text);
}

/// Infers the shapes of all operations from those of the leaves. *Throws* `invalid_argument_error` naming the operation, its
/// operands and their shapes.
inline void infer_shapes(const graph_view& g, std::vector<extents>& shapes) {
  std::vector<extents> operands;
  for (int n = 0; n < g.count; ++n) {
    if (g[n].is_leaf()) continue;
    operands.clear();
    for (int k = 0; k < g[n].count; ++k) operands.push_back(shapes[static_cast<std::size_t>(g.operand(n, k))]);
    const inferred r = g[n].op->infer(operands.data(), g[n].count);
    if (r.fault != shape_fault::none) throw_shape_fault(g, shapes, n, r.fault);
    shapes[static_cast<std::size_t>(n)] = r.shape;
  }
}

}  // namespace onto::detail
