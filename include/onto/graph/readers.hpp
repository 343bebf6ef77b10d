// SPDX-License-Identifier: BSL-1.0
// Who reads what: the members of each kernel, and of each node the nodes that read it, listed once, so that what asks
// for them is linear in the edges.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/fuse.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The members of kernels, in order: `for (int m = first[root]; m >= 0; m = next[m])`.
struct kernel_members {
  const int* first = nullptr;
  const int* next = nullptr;
};

/// Lists the nodes of each kernel; `unit` is the root of a node's kernel, or -1. Room: one entry a node.
constexpr kernel_members list_members(const int* unit, int count, int* first, int* next) {
  for (int n = 0; n < count; ++n) first[n] = next[n] = -1;
  for (int n = count - 1; n >= 0; --n) {
    if (unit[n] < 0) continue;
    next[n] = first[unit[n]];
    first[unit[n]] = n;
  }
  return {first, next};
}

/// Whether a kernel goes over rows in stages, as `is_row_kernel` says it of all nodes.
constexpr bool is_row_kernel(const graph_view& g, const kernel_members& members, int root) {
  if (g[root].kind() == op_kind::row) return folds_rows(g, root);
  for (int m = members.first[root]; m >= 0 && m < root; m = members.next[m])
    if (g[m].kind() == op_kind::reduce || g[m].kind() == op_kind::row) return true;
  return false;
}

/// Counts how often nodes are used, and finds who does last. Room: one entry a node, 0.
constexpr node_uses count_uses(const graph_view& g, int* count, int* user) {
  for (int n = 0; n < g.count; ++n)
    for (int k = 0; k < g[n].count; ++k) {
      ++count[g.operand(n, k)];
      user[g.operand(n, k)] = n;
    }
  for (int k = 0; k < g.fetch_count; ++k) {
    ++count[g.fetches[k]];
    user[g.fetches[k]] = -1;
  }
  return {count, user};
}

/// Of each node that is the base of an operand, the nodes that run and read it, in order; once for each operand.
class base_readers {
 public:
  constexpr base_readers(const graph_view& g, const int* root) : first_(g.count + 1), readers_(edges(g)) {
    int* const first = first_.get();
    const auto each = [&](const auto& f) {
      for (int m = 0; m < g.count; ++m)
        if (root[m] >= 0)
          for (int k = 0; k < g[m].count; ++k) f(m, base_of(g, root, g.operand(m, k)));
    };
    each([&](int, int base) { ++first[base + 1]; });
    for (int n = 0; n < g.count; ++n) first[n + 1] += first[n];
    each([&](int m, int base) { readers_.get()[first[base]++] = m; });
    for (int n = g.count; n > 0; --n) first[n] = first[n - 1];
    first[0] = 0;
  }

  constexpr const int* begin(int base) const { return readers_.get() + first_.get()[base]; }
  constexpr const int* end(int base) const { return readers_.get() + first_.get()[base + 1]; }

 private:
  static constexpr int edges(const graph_view& g) {
    int sum = 0;
    for (int n = 0; n < g.count; ++n) sum += g[n].count;
    return sum;
  }

  scratch_array<int> first_, readers_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
