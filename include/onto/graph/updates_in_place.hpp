// SPDX-License-Identifier: BSL-1.0
// Updates in place: kernels of a plan's end that write new values of variables where the old ones are. A run that fails
// leaves variables as they were, so these are kernels that cannot fail, behind everything that can.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/batched_updates.hpp>
#include <onto/graph/plan_step.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A kernel in place reads, and writes, at most so many arrays: for as many the CPU's maps need no memory of their own.
inline constexpr int most_in_place = 8;

class updates_in_place {
 public:
  /// `whole`: the kernels before they became units of the schedule.
  ONTO_INLINE constexpr updates_in_place(const graph_view& g, const kernel_partition& whole,
                                         const kernel_partition& units, const extents* shapes,
                                         const schedule_scratch& r, schedule_counts& c)
      : g_(g), whole_(whole), units_(units), shapes_(shapes), r_(r), c_(c) {}

  /// Finds the last steps that write variables in place, and marks their values. Each element of a new value follows
  /// from the old one's same element, and nobody reads the old value afterwards.
  /// *Complexity* the operands of these steps.
  constexpr void find() {
    if (c_.steps == 0 || !may_be(r_.steps[c_.steps - 1])) return;
    const scratch_array<int> writer(g_.count, -1);  // per variable: the kernel that writes it
    const scratch_array<bool> read(g_.count);       // per node: by a later step
    for (int k = c_.steps - 1; k >= 0 && may_be(r_.steps[k]); --k) {
      const plan_step& s = r_.steps[k];
      if (!is_update(s, writer.get(), read.get())) return;
      for (int v = s.value; v <= s.value + s.more; ++v) r_.values[v].in_place = true;
      ++c_.in_place;
      for (int m = units_.first_member[s.node]; m >= 0; m = units_.next_member[m])
        for (int j = 0; j < g_[m].count; ++j) read.get()[base_of(g_, units_, g_.operand(m, j))] = true;
    }
  }

 private:
  /// On the CPU alone: of what is launched on a GPU nobody knows that it succeeds before it did.
  ONTO_INLINE constexpr bool may_be(const plan_step& s) const {
    return s.kind == step_kind::kernel && s.at.kind == device_kind::cpu && s.whole &&
           g_[s.node].kind() == op_kind::assign;
  }

  ONTO_INLINE constexpr bool is_update(const plan_step& s, int* writer, const bool* read) const {
    for (int m = units_.first_member[s.node]; m >= 0; m = units_.next_member[m]) {
      const int root = whole_.kernel_of[m];
      if (m == root && ((update_signature(g_, whole_, root) == 0 && !updates_a_box(root)) || is_large(root)))
        return false;
      if (!g_[m].op->never_throws || (units_.result[m] && g_[m].kind() != op_kind::assign)) return false;
      if (g_[m].kind() != op_kind::assign) continue;
      const int variable = g_.operand(m, 0);
      if (g_[variable].kind() != op_kind::variable || r_.value_of[variable] >= 0) return false;
      if (read[variable] || !is_read(root, variable)) return false;
      writer[variable] = root;
    }
    for (int m = units_.first_member[s.node]; m >= 0; m = units_.next_member[m]) {
      const int root = whole_.kernel_of[m];
      const bool box = g_[m].op->only_assigned;
      for (int j = 0; j < g_[m].count; ++j) {
        const int o = g_.operand(m, j), base = base_of(g_, units_, o);
        if (box && j != 1) {
          if (writer[base] >= 0) return false;
          continue;
        }
        if (shapes_[o].rank > 0 && !(shapes_[o] == shapes_[root])) return false;
        if (writer[base] >= 0 && (writer[base] != root || o != base)) return false;
      }
    }
    return true;
  }

  /// Whether a kernel puts a box of elements into a variable, and leaves the others.
  ONTO_INLINE constexpr bool updates_a_box(int root) const {
    const int m = product_of(g_, whole_, root);
    return m >= 0 && g_[m].op->only_assigned && g_[m].op->never_throws && g_.operand(m, 1) == g_.operand(root, 0);
  }

  /// Whether a kernel reads a variable's old value, and not only replaces it: the variable may have none then.
  ONTO_INLINE constexpr bool is_read(int root, int variable) const {
    for (int m = whole_.first_member[root]; m >= 0; m = whole_.next_member[m])
      for (int j = 0; j < g_[m].count; ++j)
        if (g_.operand(m, j) == variable && (j > 0 || !is_operation<op::assign>(g_[m].op))) return true;
    return false;
  }

  ONTO_INLINE constexpr bool is_large(int root) const {
    int operands[most_in_place]{};
    int count = 0, results = 1;
    for (int m = whole_.first_member[root]; m >= 0; m = whole_.next_member[m]) {
      results += m != root && whole_.result[m] ? 1 : 0;
      for (int j = 0; j < g_[m].count; ++j) {
        const int o = g_.operand(m, j);
        if (whole_.kernel_of[o] == root || g_[o].kind() == op_kind::scalar) continue;
        int k = 0;
        while (k < count && operands[k] != o) ++k;
        if (k < count) continue;
        if (count == most_in_place) return true;
        operands[count++] = o;
      }
    }
    return results > most_in_place;
  }

  const graph_view& g_;
  const kernel_partition& whole_;
  const kernel_partition& units_;
  const extents* shapes_;
  const schedule_scratch& r_;
  schedule_counts& c_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
