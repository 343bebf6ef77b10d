// SPDX-License-Identifier: BSL-1.0
// What nodes cost: bytes of memory, floating-point operations.
#pragma once

#include <onto/graph/graph.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

constexpr std::int64_t bytes_of(element type, const extents& shape) {
  const std::int64_t n = shape.size();
  return n < 0 ? -1 : n * size_of(type);
}

/// Floating-point operations of one node; -1 where an extent is not known.
constexpr std::int64_t flops_of(const graph_view& g, const extents* shapes, int n) {
  const op_info& op = *g[n].op;
  switch (op.kind) {
    case op_kind::map:
    case op_kind::generator:
    case op_kind::assign: {
      const std::int64_t size = shapes[n].size();
      return size < 0 ? -1 : size * op.cost;
    }
    case op_kind::reduce:
    case op_kind::row: {
      const std::int64_t size = shapes[g.operand(n, 0)].size();
      return size < 0 ? -1 : size * op.cost;
    }
    case op_kind::matmul: {
      const extents& a = shapes[g.operand(n, 0)];
      const std::int64_t size = shapes[n].size();
      const int k = a.dims[a.rank - 1];
      return size < 0 || k < 0 ? -1 : 2 * size * k;
    }
    default: return 0;
  }
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
