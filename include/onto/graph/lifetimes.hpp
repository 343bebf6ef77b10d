// SPDX-License-Identifier: BSL-1.0
// How long the values of a schedule need their memory, and which take over that of an operand.
#pragma once

#include <onto/graph/plan_step.hpp>
#include <onto/graph/readers.hpp>
#include <onto/graph/ready.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class value_lifetimes {
 public:
  constexpr value_lifetimes(const graph_view& g, const kernel_partition& units, const extents* shapes,
                            const schedule_scratch& r, const schedule_counts& c)
      : g_(g), units_(units), shapes_(shapes), r_(r), c_(c) {}

  constexpr void run() {
    set_lifetimes();
    for (int k = 0; k < c_.steps; ++k)
      if (r_.steps[k].kind == step_kind::kernel) reuse_operands(k);
  }

 private:
  /// Copies on a GPU get the time of one kernel: what is copied in has its memory while the kernel before runs, and
  /// what is copied out keeps it while the kernel after does.
  constexpr void set_lifetimes() {
    for (int v = 0; v < c_.values; ++v) {
      r_.values[v].begin = r_.values[v].birth;
      r_.values[v].end = r_.values[v].death;
    }
    place_numbers places(c_.steps);
    for (int k = 0; k < c_.steps; ++k) places.add(r_.steps[k].at);
    const scratch_array<int> last(places.count(), -1), next(places.count(), -1);  // kernels, per place
    for (int k = 0; k < c_.steps; ++k) {
      const plan_step& s = r_.steps[k];
      const int d = places.find(s.at);
      if (s.kind == step_kind::kernel) last.get()[d] = k;
      if (s.kind != step_kind::transfer || s.at.kind == device_kind::cpu || last.get()[d] < 0) continue;
      r_.values[s.value].begin = last.get()[d];
    }
    for (int k = c_.steps - 1; k >= 0; --k) {
      const plan_step& s = r_.steps[k];
      if (s.kind == step_kind::kernel) next.get()[places.find(s.at)] = k;
      if (s.kind != step_kind::transfer || s.source < 0) continue;
      plan_value& v = r_.values[s.source];
      if (v.at.kind == device_kind::cpu) continue;
      if (const int d = places.find(v.at); d >= 0 && next.get()[d] > v.end) v.end = next.get()[d];
    }
  }

  /// Lets the results of a kernel take over the memory of operands that it reads last.
  constexpr void reuse_operands(int step) {
    const plan_step& s = r_.steps[step];
    if (s.batched > 1) return;  // another kernel of the launch may still read it
    for (int v = s.value; v <= s.value + s.more; ++v) {
      plan_value& x = r_.values[v];
      if (x.fetch >= 0 || x.variable || x.bytes <= 0) continue;
      for (int m = units_.first_member[s.node]; m >= 0 && x.reuses < 0; m = units_.next_member[m]) {
        for (int k = 0; k < g_[m].count && x.reuses < 0; ++k) {
          const int o = g_.operand(m, k);
          const int old = find_value(o, s.at);
          if (old < 0) continue;
          const plan_value& y = r_.values[old];
          if (y.birth < step && y.end == step && y.fetch < 0 && !y.variable && !y.copied && y.bytes == x.bytes &&
              shapes_[o] == shapes_[x.node] && !is_taken(s, old) && is_read_in_place(s.node, o))
            x.reuses = old;
        }
      }
    }
  }

  constexpr bool is_taken(const plan_step& s, int value) const {
    for (int v = s.value; v <= s.value + s.more; ++v)
      if (r_.values[v].reuses == value) return true;
    return false;
  }

  /// Whether a unit reads the value of `o` only where it writes: at an element's own index, or all of a row that it
  /// then replaces.
  constexpr bool is_read_in_place(int unit, int o) const {
    // What is folded may be read for each element of the result, also what has the result's shape.
    if (g_[unit].kind() == op_kind::reduce) return false;
    // Stages of a row kernel may read an operand again when the row of the result has been written to.
    const bool one = units_.is_single(unit);
    if (!one && is_row_kernel(g_, units_, unit)) return false;
    for (int m = units_.first_member[unit]; m >= 0; m = units_.next_member[m]) {
      const op_kind kind = g_[m].kind();
      for (int k = 0; k < g_[m].count; ++k) {
        const int other = g_.operand(m, k);
        if (base_of(g_, units_, other) != base_of(g_, units_, o)) continue;
        if (other != o || units_.path_of[m] >= 0 ||
            !(g_[m].is_map() || kind == op_kind::assign || (kind == op_kind::row && one)))
          return false;
      }
      if (kind != op_kind::matmul) continue;
      // The addend of one row is a bias, which cuBLAS reads beside the result.
      if (shapes_[m].dims[shapes_[m].rank - 2] < 2) return false;
    }
    return true;
  }

  constexpr int find_value(int node, const place& at) const {
    for (int v = r_.value_of[node]; v >= 0; v = r_.values[v].next)
      if (r_.values[v].at == at) return v;
    return -1;
  }

  const graph_view& g_;
  const kernel_partition& units_;
  const extents* shapes_;
  const schedule_scratch& r_;
  const schedule_counts& c_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
