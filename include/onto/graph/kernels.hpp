// SPDX-License-Identifier: BSL-1.0
// The kernels of a graph: which nodes run together, in which order, and what each kernel makes. Fusion makes the
// partition, while compiling; schedule, order, memory, cost, text, binding and code generation read it.
#pragma once

#include <onto/graph/matmul_epilogue.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// An operation dearer than this is not recomputed for each element of a broadcast.
inline constexpr int recompute_limit = 8;

/// A partition of the nodes that run. A kernel is named by its root, the last of its members. Entries are per node.
struct kernel_partition {
  const int* kernel_of = nullptr;     // the root of the kernel a node runs in; -1: leaves, and views that only show
  const int* first_member = nullptr;  // of a root
  const int* next_member = nullptr;   // of a member: `for (int m = first_member[root]; m >= 0; m = next_member[m])`
  const int* path_of = nullptr;  // the view path of a node in its kernel, see view_path.hpp; -1: the kernel's own space
  const bool* result = nullptr;  // a result beside the root
  const int* batch_of = nullptr;  // of a root: the first root of the kernels that are one launch with it; -1: none is
  const matmul_epilogue* epilogues = nullptr;  // of the products, in their order
  int products = 0;

  constexpr bool runs(int n) const { return kernel_of[n] >= 0; }
  /// Whether a kernel has one member.
  constexpr bool is_single(int root) const { return first_member[root] == root; }
  /// What the kernel of a product does beside multiplying.
  constexpr const matmul_epilogue& epilogue_of(int product) const {
    int first = 0;
    for (int n = products; n > 1;) {
      const int half = n / 2;
      if (epilogues[first + half].product <= product) first += half;
      n -= half;
    }
    return epilogues[first];
  }
};

/// The same while it is made.
struct kernel_arrays {
  int* kernel_of = nullptr;
  int* first_member = nullptr;
  int* next_member = nullptr;
  int* path_of = nullptr;
  bool* result = nullptr;
  int* batch_of = nullptr;
  matmul_epilogue* epilogues = nullptr;
  int products = 0;
  const char* task_sums = nullptr;  // of programs over tasks, see task_sums.hpp

  constexpr operator kernel_partition() const {
    return {kernel_of, first_member, next_member, path_of, result, batch_of, epilogues, products};
  }

  ONTO_INLINE constexpr bool is_task_sum(int n) const { return task_sums && task_sums[n] != 0; }

  /// Room for a graph, from an arena.
  template <class Memory>
  static kernel_arrays make(Memory& m, int nodes, int products = 0) {
    return {m.template make<int>(nodes),
            m.template make<int>(nodes),
            m.template make<int>(nodes),
            m.template make<int>(nodes),
            m.template make<bool>(nodes),
            m.template make<int>(nodes),
            m.template make<matmul_epilogue>(products),
            products};
  }

  constexpr void clear(int nodes) const {
    for (int n = 0; n < nodes; ++n) {
      kernel_of[n] = first_member[n] = next_member[n] = path_of[n] = batch_of[n] = -1;
      result[n] = false;
    }
  }
  /// Adds a member that is before all others.
  constexpr void prepend(int n, int root) const {
    kernel_of[n] = root;
    next_member[n] = first_member[root];
    first_member[root] = n;
  }
  /// Lists the members as `kernel_of` has them.
  constexpr void list_members(int nodes) const {
    for (int n = 0; n < nodes; ++n) first_member[n] = next_member[n] = -1;
    for (int n = nodes - 1; n >= 0; --n)
      if (kernel_of[n] >= 0) prepend(n, kernel_of[n]);
  }
  constexpr void copy(const kernel_partition& from, int nodes) const {
    for (int n = 0; n < nodes; ++n) {
      kernel_of[n] = from.kernel_of[n];
      first_member[n] = from.first_member[n];
      next_member[n] = from.next_member[n];
      path_of[n] = from.path_of[n];
      result[n] = from.result[n];
      batch_of[n] = from.batch_of[n];
    }
    for (int k = 0; k < products; ++k) epilogues[k] = from.epilogues[k];
  }
};

/// How many products there are.
constexpr int count_products(const graph_view& g) {
  int products = 0;
  for (int n = 0; n < g.count; ++n) products += g[n].has_epilogue() ? 1 : 0;
  return products;
}

/// The arrays of a partition that is a constant.
template <int Nodes, int Products = 0>
struct stored_kernels {
  int kernel_of[Nodes]{};
  int first_member[Nodes]{};
  int next_member[Nodes]{};
  int path_of[Nodes]{};
  bool result[Nodes]{};
  int batch_of[Nodes]{};
  matmul_epilogue epilogues[Products + 1]{};

  constexpr kernel_arrays arrays() {
    return {kernel_of, first_member, next_member, path_of, result, batch_of, epilogues, Products};
  }
  constexpr kernel_partition view() const {
    return {kernel_of, first_member, next_member, path_of, result, batch_of, epilogues, Products};
  }
};

/// What is left of a node once views are taken off: the node whose memory is looked at.
constexpr int base_of(const graph_view& g, const kernel_partition& p, int n) {
  while (g[n].kind() == op_kind::view && p.kernel_of[n] < 0) n = g.operand(n, 0);
  return n;
}

/// How many members a kernel has.
constexpr int count_members(const kernel_partition& p, int root) {
  int count = 0;
  for (int m = p.first_member[root]; m >= 0; m = p.next_member[m]) ++count;
  return count;
}

/// The product of a kernel, of matrices or a convolution, or -1.
constexpr int product_of(const graph_view& g, const kernel_partition& p, int root) {
  for (int m = p.first_member[root]; m >= 0; m = p.next_member[m])
    if (g[m].has_epilogue()) return m;
  return -1;
}

/// Whether a kernel's instructions are made of operations of this kind.
constexpr bool is_coded(op_kind k) {
  return k == op_kind::map || k == op_kind::generator || k == op_kind::assign || k == op_kind::reduce;
}

/// Whether the kernel of this root is a program of instructions. A view is a copy, unless what it shows is made in the
/// same kernel.
constexpr bool has_code(const graph_view& g, const kernel_partition& p, int root) {
  const op_kind k = g[root].kind();
  if (k == op_kind::view) return p.kernel_of[base_of(g, p, g.operand(root, 0))] == root;
  return is_coded(k);
}

/// Marks the results of kernels beside their roots: what other kernels, views and fetches read of them, and what
/// variables keep. What is seen through views inside a kernel is none.
constexpr void mark_results(const graph_view& g, const kernel_arrays& p) {
  for (int n = 0; n < g.count; ++n) p.result[n] = g[n].kind() == op_kind::assign;
  for (int n = 0; n < g.count; ++n)
    for (int k = 0; k < g[n].count; ++k)
      if (const int o = g.operand(n, k); p.kernel_of[o] >= 0 && p.kernel_of[o] != p.kernel_of[n])
        p.result[o] = p.path_of[o] < 0;
  for (int k = 0; k < g.fetch_count; ++k) p.result[g.fetches[k]] = true;
  for (int n = 0; n < g.count; ++n) p.result[n] = p.result[n] && p.kernel_of[n] >= 0 && p.kernel_of[n] != n;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
