// SPDX-License-Identifier: BSL-1.0
// The schedule: a placed, fused graph becomes steps in order (kernels and transfers) and the values that live between
// them.
#pragma once

#include <onto/graph/batched_units.hpp>
#include <onto/graph/cost.hpp>
#include <onto/graph/fuse.hpp>
#include <onto/graph/horizontal_fusion.hpp>
#include <onto/graph/partial_transfer.hpp>
#include <onto/graph/placer.hpp>
#include <onto/graph/ready.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// What a step of a plan does.
enum class step_kind : std::uint8_t {
  kernel,      ///< runs a fused kernel, or one operation where a kernel had to be split
  transfer,    ///< copies a value to another device
  fetch_copy,  ///< copies a value that is in host memory to where a fetch wants it
};

/// One step.
struct plan_step {
  step_kind kind = step_kind::kernel;
  int node = -1;      // whose value it makes
  place at{};         // where
  place from{};       // of a transfer
  int value = -1;     // the value it writes; -1 for a fetch_copy
  int more = 0;       // of a merged kernel: as many further values follow that one
  int source = -1;    // the value a transfer reads; -1 where it is a feed or a constant
  int fetch = -1;     // of a fetch_copy: which fetch
  int batched = 1;    // so many kernels are one launch
  bool whole = true;  // the fused kernel; false: one operation of it, or what was a kernel before it was merged
};

/// A node's result, or rows of it, in the memory of one device.
struct plan_value {
  int node = -1;  // where only rows are there, the view that they are
  place at{};
  int birth = 0;            // the step that writes it
  int death = 0;            // the last step that reads it
  int begin = 0;            // its memory is its own from this step on: a copy may run beside the kernel before
  int end = 0;              // to this one: a copy may still read beside the kernel after
  int fetch = -1;           // written straight into this fetch's result
  bool variable = false;    // the new value of a variable: kept after the run
  bool copied = false;      // to another device
  int reuses = -1;          // the operand whose memory it takes over
  std::int64_t bytes = 0;   // -1 where an extent is not known
  std::int64_t offset = 0;  // in the device's block
  int next = -1;            // another value of the same node
};

namespace detail {

/// Room for a schedule. Steps and values: at least nodes + operands + 2 * fetches; the rest one entry a node.
struct schedule_scratch {
  plan_step* steps = nullptr;
  plan_value* values = nullptr;
  kernel_arrays units;      // kernels as they are run: some are split
  int* value_of = nullptr;  // per node: its first value; or -1
  bool* done = nullptr;     // while kernels are split
  bool* broken = nullptr;   // per root: whether its kernel lost members to other units
};

struct schedule_counts {
  int steps = 0;
  int values = 0;
  int kernels = 0;
  int transfers = 0;
  std::int64_t transfer_bytes = 0;  // -1: not known
  std::int64_t flops = 0;           // -1: not known
};

class scheduler {
 public:
  /// `parts`: the kernels before some were merged.
  constexpr scheduler(const graph_view& g, const kernel_partition& whole, const kernel_partition& parts,
                      const extents* shapes, const node_placement* where, const schedule_scratch& scratch)
      : g_(g),
        whole_(whole),
        parts_(parts),
        units_(scratch.units),
        shapes_(shapes),
        where_(where),
        readers_(g, whole),
        r_(scratch) {}

  /// Runs over the units in order. `split`, per root or null, names kernels that must run one operation at a time.
  /// *Complexity* edges * places.
  constexpr schedule_counts run(const bool* split) {
    form_units(split);
    issue_units();
    for (int k = 0; k < g_.fetch_count; ++k) fetch_copy(k);
    // A transfer from host memory may still read when later steps of the host run: its source is kept to the end.
    for (int k = 0; k < c_.steps; ++k) {
      const plan_step& s = r_.steps[k];
      if (s.kind == step_kind::transfer && s.source >= 0 && s.from.kind == device_kind::cpu)
        r_.values[s.source].death = c_.steps;
    }
    set_lifetimes();
    for (int k = 0; k < c_.steps; ++k)
      if (r_.steps[k].kind == step_kind::kernel) reuse_operands(k);
    return c_;
  }

 private:
  /// Issues units that wait for nothing, in order, as often as it takes: what reads a merged kernel may come before its
  /// root. What runs on a GPU is issued as early as it can be, since the host waits at each of its own steps. The GPUs
  /// have their turns: a copy that waits for one of them holds up what lies behind it in its stream, for others too.
  constexpr void issue_units() {
    place_numbers gpus(g_.count);
    const scratch_array<int> waits(g_.count);  // per unit: operands that are not made yet
    int* const waiting = waits.get();
    int left = 0;
    for (int n = 0; n < g_.count; ++n) {
      if (units_.kernel_of[n] < 0) continue;
      for (const int* m = readers_.begin(n); m != readers_.end(n); ++m)
        if (units_.kernel_of[*m] != units_.kernel_of[n]) ++waiting[units_.kernel_of[*m]];
      if (units_.kernel_of[n] != n) continue;
      ++left;
      if (where_[n].where.kind != device_kind::cpu) gpus.add(where_[n].where);
    }
    ready_units ready(g_.count, gpus.count());
    for (int n = 0; n < g_.count; ++n)
      if (units_.kernel_of[n] == n && waiting[n] == 0) ready.add(n, where_[n].where);
    const auto issue = [&](int unit) {
      ready.remove(unit, where_[unit].where);
      emit(unit);
      --left;
      for (int made = units_.first_member[unit]; made >= 0; made = units_.next_member[made])
        for (const int* m = readers_.begin(made); m != readers_.end(made); ++m)
          if (const int u = units_.kernel_of[*m]; u != unit && --waiting[u] == 0) ready.add(u, where_[u].where);
    };
    const bool turns = gpus.count() > 1;
    while (left > 0) {
      ready.begin_round();
      const int before = left;
      for (int n = ready.next_on_gpus(0, turns); n >= 0; n = ready.next_on_gpus(n + 1, turns)) issue(n);
      if (left != before) continue;
      // With GPUs one step of the host, and then theirs again.
      for (int n = ready.next_on_host(0); n >= 0; n = gpus.count() > 0 ? -1 : ready.next_on_host(n + 1)) issue(n);
    }
  }

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

  /// Splits kernels: one operation at a time where `split` says so, or where their members are on several devices and
  /// so are those of what they were merged from.
  constexpr void form_units(const bool* split) {
    const kernel_arrays& units = r_.units;
    units.copy(whole_, g_.count);
    for (int n = 0; n < g_.count; ++n) {
      r_.value_of[n] = -1;
      r_.done[n] = false;
      r_.broken[n] = false;
      units.result[n] = false;
    }
    bool* const apart = r_.done;  // per root: members on several devices
    bool* const part_apart = units.result;
    bool any = split != nullptr;
    for (int n = 0; n < g_.count; ++n) {
      if (!whole_.runs(n)) continue;
      const int root = whole_.kernel_of[n], part = parts_.kernel_of[n];
      if (!(where_[n].where == where_[root].where)) any = apart[root] = true;
      if (!(where_[n].where == where_[part].where)) part_apart[part] = true;
    }
    for (int n = 0; n < g_.count && any; ++n) {
      const int root = whole_.kernel_of[n];
      if (root < 0) continue;
      if (split && split[root])
        units.kernel_of[n] = n;
      else if (apart[root])
        units.kernel_of[n] = part_apart[parts_.kernel_of[n]] ? n : parts_.kernel_of[n];
      if (units.kernel_of[n] != root) r_.broken[root] = true;
    }
    any = form_batches(g_, whole_, where_, r_.broken, units, r_.value_of) || any;
    if (any) units.list_members(g_.count);
    mark_results(g_, units);
  }

  constexpr int find_value(int node, const place& at) const {
    for (int v = r_.value_of[node]; v >= 0; v = r_.values[v].next)
      if (r_.values[v].at == at) return v;
    return -1;
  }

  constexpr int new_value(int node, const place& at, int birth) {
    plan_value& v = r_.values[c_.values];
    v = plan_value{};
    v.node = node;
    v.at = at;
    v.birth = birth;
    v.death = birth;
    v.bytes = bytes_of(g_[node].type, shapes_[node]);
    v.next = r_.value_of[node];
    r_.value_of[node] = c_.values;
    return c_.values++;
  }

  /// Makes what is read of `o` at a place available there; the value's number, or -1 where it is the caller's memory.
  constexpr int add_transfer(int o, const place& at) {
    const int base = base_of(g_, units_, o);
    if (const int v = find_value(base, at); v >= 0) return v;
    const graph_node& n = g_[base];
    if (in_host_memory(n) && at.kind == device_kind::cpu) return -1;
    const place from = in_host_memory(n) ? host : where_[base].where;
    if (n.kind() == op_kind::variable && from == at) return -1;
    const int share = partial_transfer_of(g_, units_, where_, readers_, o, at);
    if (const int v = find_value(share, at); v >= 0) return v;
    plan_step s;
    s.kind = step_kind::transfer;
    s.node = share;
    s.at = at;
    s.from = from;
    s.source = find_value(base, from);
    if (s.source >= 0) {
      r_.values[s.source].death = c_.steps;
      r_.values[s.source].copied = true;
    }
    s.value = new_value(share, at, c_.steps);
    c_.transfer_bytes = known_sum(c_.transfer_bytes, r_.values[s.value].bytes);
    ++c_.transfers;
    r_.steps[c_.steps++] = s;
    return s.value;
  }

  constexpr void emit(int unit) {
    const place at = where_[unit].where;
    for (int m = units_.first_member[unit]; m >= 0; m = units_.next_member[m]) {
      for (int k = 0; k < g_[m].count; ++k) {
        const int o = g_.operand(m, k);
        if (g_[o].kind() == op_kind::scalar) continue;
        const int b = base_of(g_, units_, o);
        if (units_.kernel_of[b] != unit) add_transfer(o, at);
      }
      c_.flops = known_sum(c_.flops, flops_of(g_, shapes_, m));
    }
    // Only now is the number of this step known: what it reads lives until here.
    for (int m = units_.first_member[unit]; m >= 0; m = units_.next_member[m]) {
      for (int k = 0; k < g_[m].count; ++k) {
        const int o = g_.operand(m, k);
        if (units_.kernel_of[base_of(g_, units_, o)] == unit) continue;
        const int held = find_held(g_, units_, o, [&](int n) { return find_value(n, at) >= 0; });
        if (const int v = find_value(held, at); v >= 0) r_.values[v].death = c_.steps;
      }
    }
    plan_step s;
    s.node = unit;
    s.at = at;
    s.whole = whole_.kernel_of[unit] == unit && !r_.broken[unit];
    s.value = c_.values;
    if (s.whole && whole_.batch_of[unit] >= 0) {
      add_results(whole_, unit, at);
      for (int m = units_.first_member[unit]; m >= 0; m = units_.next_member[m]) {
        if (whole_.kernel_of[m] != m || m == unit) continue;
        add_results(whole_, m, at);
        ++s.batched;
      }
    } else {
      add_results(units_, unit, at);
    }
    s.more = c_.values - s.value - 1;
    r_.steps[c_.steps++] = s;
    ++c_.kernels;
  }

  /// The value of a kernel's root, and after it those of its further results.
  constexpr void add_results(const kernel_partition& kernels, int root, const place& at) {
    new_result(root, at);
    for (int m = kernels.first_member[root]; m >= 0; m = kernels.next_member[m])
      if (m != root && units_.result[m]) new_result(m, at);
  }

  constexpr int new_result(int node, const place& at) {
    const int v = new_value(node, at, c_.steps);
    if (g_[node].kind() == op_kind::assign) {
      r_.values[v].variable = true;
      r_.values[v].death = 1 << 30;
    }
    return v;
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

  constexpr void fetch_copy(int fetch) {
    const int node = g_.fetches[fetch];
    const bool runs = units_.kernel_of[node] >= 0;
    const place at = where_[node].where;
    int v = find_value(node, at.kind == device_kind::cpu ? at : host);
    if (v < 0 && at.kind != device_kind::cpu && !in_host_memory(g_[node])) v = add_transfer(node, host);
    if (v >= 0 && r_.values[v].fetch < 0 && !r_.values[v].variable && (runs || at.kind != device_kind::cpu)) {
      r_.values[v].fetch = fetch;
      r_.values[v].death = 1 << 30;
      return;
    }
    if (v >= 0 && !r_.values[v].variable)
      r_.values[v].death = c_.steps > r_.values[v].death ? c_.steps : r_.values[v].death;
    plan_step s;
    s.kind = step_kind::fetch_copy;
    s.node = node;
    s.at = at.kind == device_kind::cpu ? at : host;
    s.source = v;
    s.fetch = fetch;
    r_.steps[c_.steps++] = s;
    ++c_.kernels;
  }

  const graph_view& g_;
  kernel_partition whole_;
  kernel_partition parts_;
  kernel_partition units_;  // of room's arrays
  const extents* shapes_;
  const node_placement* where_;
  base_readers readers_;
  schedule_scratch r_;
  schedule_counts c_{};
};

}  // namespace detail

}  // namespace onto

ONTO_END_RUNS_ONCE
