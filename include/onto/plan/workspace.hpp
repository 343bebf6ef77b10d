// SPDX-License-Identifier: BSL-1.0
// How much memory a plan sets apart on a GPU for its kernels to work in: one piece, since the kernels of a device run
// one after the other.
#pragma once

#include <onto/graph/cost.hpp>
#include <onto/graph/index_map.hpp>
#include <onto/graph/memory.hpp>
#include <onto/graph/row_fusion.hpp>
#include <onto/kernel/matmul_plan.hpp>
#include <onto/kernel/workspace.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What kernels need to work in: bytes, or -1 where an extent is not known. What a kernel only likes to have, as
/// cublasLt its 32 MiB, is not in it.
class workspace_finder {
 public:
  constexpr workspace_finder(const graph_view& g, const kernel_partition& units, const extents* shapes)
      : g_(g), units_(units), shapes_(shapes) {}

  /// Of all kernels on a GPU; 0 elsewhere.
  constexpr std::int64_t of(const plan_step* steps, int count, const place& at) const {
    std::int64_t most = 0;
    for (int k = 0; k < count && at.kind == device_kind::gpu; ++k) {
      if (steps[k].kind != step_kind::kernel || !(steps[k].at == at)) continue;
      const std::int64_t bytes = of(steps[k].node);
      if (bytes < 0) return -1;
      most = greatest(most, bytes);
    }
    return rounded(most);
  }

 private:
  /// Of the kernel with this root.
  constexpr std::int64_t of(int root) const {
    const int product = product_of(g_, units_, root);
    const graph_node& x = g_[product >= 0 ? product : root];
    if (x.kind() == op_kind::matmul) return of_product(product);
    if (const int axis = row_axis_of_kernel(g_, units_, root); axis >= 0) return of_rows(root, axis);
    if (x.kind() == op_kind::row)
      return of_rows(root, shapes_[root].rank - 1 - softmax_axis(*x.op, shapes_[root].rank));
    if (x.kind() == op_kind::reduce) {
      const std::int64_t all = shapes_[g_.operand(root, 0)].size(), outputs = shapes_[root].size();
      if (all < 0 || outputs < 0) return -1;
      const bool wide = is_argument(fold_of(*x.op)) || g_[g_.operand(root, 0)].type == element::float64;
      return outputs == 0 ? 0 : most_fold_workspace(outputs, all / outputs, wide ? partial_bytes : partial_bytes / 2);
    }
    if (x.kind() != op_kind::own_kernel || !x.op->has_workspace) return 0;
    extents operands[max_operands];
    for (int k = 0; k < x.count; ++k) {
      operands[k] = shapes_[g_.operand(root, k)];
      if (!operands[k].is_static()) return -1;
    }
    return x.op->workspace(operands, x.count);
  }

  /// Rows along an axis, counted from the last.
  constexpr std::int64_t of_rows(int root, int axis) const {
    const extents& space = shapes_[space_of(g_, root)];
    if (!space.is_static()) return -1;
    row_work w;
    w.size = 4;
    w.count = space.dims[space.rank - 1 - axis];
    w.rows = w.count > 0 ? space.size() / w.count : 0;
    const scratch_array<bool> counted(g_.count);
    for (int m = units_.first_member[root]; m >= 0; m = units_.next_member[m]) {
      const op_kind kind = g_[m].kind();
      if (kind == op_kind::reduce || kind == op_kind::row) ++w.slot_count;
      // A softmax gives its rows' maxima and sums, and what follows of these.
      w.given += kind == op_kind::row ? 3 : kind == op_kind::reduce || is_column(shapes_[m], axis) ? 1 : 0;
      w.size = greatest(w.size, size_of(g_[m].type));
      for (int k = 0; k < g_[m].count; ++k) {
        const int o = g_.operand(m, k);
        if (counted.get()[o] || units_.kernel_of[base_of(g_, units_, o)] == root || is_column(shapes_[o], axis))
          continue;
        counted.get()[o] = true;
        ++w.slot_count;
        w.size = greatest(w.size, size_of(g_[o].type));
      }
    }
    return most_row_workspace(w);
  }

  /// Copies of operands that no strides of a BLAS reach.
  constexpr std::int64_t of_product(int product) const {
    const extents& out = shapes_[product];
    std::int64_t bytes = 0;
    for (int k = 0; k < 2; ++k) {
      const int o = g_.operand(product, k);
      const extents& x = shapes_[o];
      if (!x.is_static() || !out.is_static()) return -1;
      const std::int64_t rows = x.dims[x.rank - 2], columns = x.dims[x.rank - 1];
      if (x.size() == 0 || out.size() == 0) return 0;
      extents space = out;
      space.dims[out.rank - 2] = x.dims[x.rank - 2];
      space.dims[out.rank - 1] = x.dims[x.rank - 1];
      std::int64_t stride[max_rank] = {}, elements = 0;
      broadcast_strides(x, layout_of(g_, units_, shapes_, o, base_of(g_, units_, o)).stride, space, stride);
      form_or_copy(batches_of(space), rows, columns, stride, elements);
      bytes = plus(bytes, rounded(times(elements, size_of(g_[o].type))));
    }
    return bytes;
  }

  const graph_view& g_;
  const kernel_partition& units_;
  const extents* shapes_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
