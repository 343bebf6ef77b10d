// SPDX-License-Identifier: BSL-1.0
// Batches: kernels that write variables by one program, each over a variable of its own extents, are one launch. So an
// optimizer's step over all parameters is as many launches as it has programs, and not as there are parameters.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/fuse.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A launch goes over at most this many kernels: of Adam's, their operands fill half of a GPU kernel's parameters.
inline constexpr int most_batched = 128;
/// And each has at most this many members.
inline constexpr int most_batched_members = 64;

/// What a kernel that writes variables computes: kernels of one signature have the same program, over other operands.
/// 0: it is none that can be part of a batch. Each member is over the kernel's elements, and each operand lies as they
/// do or is one number, so that the elements of all kernels can be gone through in one row.
constexpr std::uint64_t update_signature(const graph_view& g, const kernel_partition& p, int root) {
  if (g[root].kind() != op_kind::assign) return 0;
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t v) { hash = hash_mix(hash, v); };
  int seen[2 * most_batched_members]{};  // members and operands in the order in which they are met
  int count = 0;
  const auto number_of = [&](int n) {
    int k = 0;
    while (k < count && seen[k] != n) ++k;
    return k;
  };
  for (int m = p.first_member[root]; m >= 0; m = p.next_member[m]) {
    const graph_node& x = g[m];
    if (p.path_of[m] >= 0 || (x.kind() != op_kind::map && x.kind() != op_kind::assign)) return 0;
    if (count + x.count >= 2 * most_batched_members) return 0;
    add(x.op->hash);
    add(static_cast<std::uint64_t>(x.type) << 8 | static_cast<std::uint64_t>(x.count) << 2 | (p.result[m] ? 2u : 0u) |
        (x.holds_values ? 1u : 0u));
    for (int k = 0; k < x.count; ++k) {
      const int o = g.operand(m, k);
      const int number = number_of(o);
      add(static_cast<std::uint64_t>(number));
      if (number < count) continue;
      seen[count++] = o;
      const graph_node& y = g[o];
      const bool one = y.shape.rank == 0;
      if (!one && (!is_flat(g, p, o) || !surely_equal(y.shape, x.shape)) &&
          (y.shape.is_static() || x.shape.is_static() || y.shape.rank != x.shape.rank || !is_flat(g, p, o)))
        return 0;
      add(y.is_literal() ? y.op->hash : static_cast<std::uint64_t>(y.kind() == op_kind::scalar ? 1 : 0));
      add(static_cast<std::uint64_t>(y.type) << 1 | (y.holds_values ? 1u : 0u));
    }
    if (number_of(m) == count) seen[count++] = m;
  }
  return hash == 0 ? 1 : hash;
}

/// Kernels of one signature.
struct update_batch {
  std::uint64_t signature = 0;
  int first = -1;
  int count = 0;
};

/// The pass: kernels that write variables, and that no other kernel waits for, form batches. They can all be last, so
/// no kernel of a batch waits for another one, and nothing waits longer.
struct batch_updates {
  /// *Complexity* nodes, and batches for each kernel that writes variables.
  static constexpr void run(const graph_view& g, const kernel_arrays& k) {
    const kernel_partition p = k;
    int updates = 0;
    for (int n = 0; n < g.count; ++n)
      updates += p.kernel_of[n] == n && g[n].kind() == op_kind::assign && p.path_of[n] < 0 ? 1 : 0;
    if (updates < 2) return;
    const scratch_array<bool> read(g.count);  // per root: by another kernel, or through a view
    for (int n = 0; n < g.count; ++n)
      for (int j = 0; j < g[n].count; ++j)
        if (const int r = p.kernel_of[g.operand(n, j)]; r >= 0 && r != p.kernel_of[n]) read.get()[r] = true;
    const scratch_array<update_batch> batches(updates, update_batch{});
    int count = 0;
    for (int n = 0; n < g.count; ++n) {
      if (p.kernel_of[n] != n || g[n].kind() != op_kind::assign || read.get()[n]) continue;
      const std::uint64_t signature = update_signature(g, p, n);
      if (signature == 0) continue;
      int b = 0;
      while (b < count && (batches.get()[b].signature != signature || batches.get()[b].count == most_batched)) ++b;
      update_batch& x = batches.get()[b];
      if (b == count) {
        x = {signature, n, 0};
        ++count;
      }
      if (++x.count == 2) k.batch_of[x.first] = x.first;
      if (x.count > 1) k.batch_of[n] = x.first;
    }
  }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
