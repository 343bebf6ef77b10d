// SPDX-License-Identifier: BSL-1.0
// What nodes cost: bytes of memory, floating-point operations.
#pragma once

#include <onto/graph/graph.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

// -1 stands for a number that is not known, and the greatest number there is for what no number holds.

constexpr std::int64_t known_product(std::int64_t a, std::int64_t b) { return a < 0 || b < 0 ? -1 : times(a, b); }
constexpr std::int64_t known_sum(std::int64_t a, std::int64_t b) { return a < 0 || b < 0 ? -1 : plus(a, b); }

constexpr std::int64_t bytes_of(element type, const extents& shape) {
  return known_product(shape.size(), size_of(type));
}

/// Floating-point operations of one node; -1 where an extent is not known.
constexpr std::int64_t flops_of(const graph_view& g, const extents* shapes, int n) {
  const op_info& op = *g[n].op;
  switch (op.kind) {
    case op_kind::map:
    case op_kind::generator:
    case op_kind::assign: return known_product(shapes[n].size(), op.cost);
    case op_kind::reduce:
    case op_kind::row: return known_product(shapes[g.operand(n, 0)].size(), op.cost);
    case op_kind::own_kernel: {
      if (!op.has_flops) return known_product(shapes[n].size(), op.cost);
      extents operands[max_operands];
      for (int k = 0; k < g[n].count; ++k) {
        operands[k] = shapes[g.operand(n, k)];
        if (!operands[k].is_static()) return -1;
      }
      return op.flops(operands, g[n].count);
    }
    case op_kind::matmul: {
      const extents& a = shapes[g.operand(n, 0)];
      return known_product(known_product(2, shapes[n].size()), a.dims[a.rank - 1]);
    }
    default: return 0;
  }
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
