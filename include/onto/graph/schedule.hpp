// SPDX-License-Identifier: BSL-1.0
// The schedule: a placed, fused graph becomes steps in order (kernels and transfers) and the values that live between
// them.
#pragma once

#include <onto/graph/collective_steps.hpp>
#include <onto/graph/cost.hpp>
#include <onto/graph/fuse.hpp>
#include <onto/graph/held_updates.hpp>
#include <onto/graph/horizontal_fusion.hpp>
#include <onto/graph/lifetimes.hpp>
#include <onto/graph/partial_transfer.hpp>
#include <onto/graph/placer.hpp>
#include <onto/graph/plan_step.hpp>
#include <onto/graph/ready.hpp>
#include <onto/graph/split_units.hpp>
#include <onto/graph/updates_in_place.hpp>

#include <type_traits>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

namespace detail {

/// What several tasks have, of a program over several tasks.
struct shared_values {
  collectives all;
  collective_buckets buckets;
  held_updates updates;
};
struct nothing_shared {};  // of another one

/// `Shared`: programs of one process have no code for collectives.
template <class Shared>
class basic_scheduler : collective_steps {
 public:
  constexpr explicit basic_scheduler(const schedule_input& in)
      : collective_steps(in), whole_(in.whole), parts_(in.parts), shared_(make_shared(in)) {}

  /// Runs over the units in order. `split`, per root or null, names kernels that must run one operation at a time.
  /// *Complexity* edges * places.
  constexpr schedule_counts run(const bool* split) {
    form_units(g_, whole_, parts_, where_, split, r_, [&](int root) { return is_together(root); });
    issue_units();
    for (int k = 0; k < g_.fetch_count; ++k) fetch(k);
    // A transfer from host memory, or a collective, may still read when later steps of the host run: what it reads is
    // kept to the end.
    for (int k = 0; k < c_.steps; ++k) {
      const plan_step& s = r_.steps[k];
      if (s.source >= 0 && (s.kind == step_kind::transfer ? is_read_by_host(s) : is_collective(s.kind)))
        r_.values[s.source].death = c_.steps;
      for (int v = s.value; v >= 0 && is_collective(s.kind) && v <= s.value + s.more; ++v)
        if (const int term = r_.values[v].term; term >= 0)
          if (const int given = find_value(term, s.at); given >= 0) r_.values[given].death = c_.steps;
    }
    value_lifetimes(g_, units_, shapes_, r_, c_).run();
    if constexpr (!shares) updates_in_place(g_, whole_, units_, shapes_, r_, c_).find();
    return c_;
  }

 private:
  static constexpr bool shares = std::is_same_v<Shared, shared_values>;

  constexpr Shared make_shared([[maybe_unused]] const schedule_input& in) {
    if constexpr (shares)
      return {collectives(g_, whole_, shapes_, where_, readers_, targets_, routes_), collective_buckets(g_.count),
              held_updates(g_.count, in.updates_last)};
    else
      return {};
  }
  /// Whether a transfer's source is read when no stream of a device knows.
  static constexpr bool is_read_by_host(const plan_step& s) {
    return s.from.kind == device_kind::cpu || (!same_task(s.from, s.at) && !s.direct);
  }
  constexpr bool is_together(int root) const {
    if constexpr (shares) return shared_.all.is_collective(root);
    return false;
  }
  /// Whether a node is the result of a collective, or follows from one.
  constexpr bool is_shared(int n) const {
    if constexpr (shares) return shared_.all.has(n);
    return false;
  }

  /// Issues units that wait for nothing, in order, as often as it takes: what reads a merged kernel may come before its
  /// root. What runs on a GPU is issued as early as it can be, since the host waits at each of its own steps. The GPUs
  /// have their turns: a copy that waits for one of them holds up what lies behind it in its stream, for others too.
  /// A copy from GPU to GPU begins when there is something to copy, and who reads it lets others go first for a while.
  /// Collectives begin as soon as there are enough bytes for a bucket, and what reads them is issued when there is
  /// nothing else.
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
    if constexpr (shares) shared_.updates.find(g_, units_, where_, readers_);
    ready_units ready(g_.count, gpus.count());
    const auto add = [&](int unit) {
      if constexpr (shares)
        if (shared_.updates.holds(unit)) {
          add_messages(unit);
          return shared_.updates.add(unit);
        }
      if (add_transfers(unit, true))
        ready.add_behind_copy(unit, where_[unit].where);
      else
        ready.add(unit, where_[unit].where);
    };
    for (int n = 0; n < g_.count; ++n)
      if (units_.kernel_of[n] == n && waiting[n] == 0) add(n);
    const auto release = [&](int unit) {
      --left;
      for (int made = units_.first_member[unit]; made >= 0; made = units_.next_member[made])
        for (const int* m = readers_.begin(made); m != readers_.end(made); ++m)
          if (const int u = units_.kernel_of[*m]; u != unit && --waiting[u] == 0) add(u);
    };
    int issued = 0;
    const auto issue = [&](int unit) {
      ++issued;
      ready.remove(unit, where_[unit].where);
      if constexpr (shares) {
        if (is_together(unit)) return collect(unit);
        if (is_shared(unit)) return release(unit);
      }
      run_unit(unit, where_[unit].where);
      release(unit);
    };
    const bool turns = gpus.count() > 1;
    while (left > 0) {
      ready.begin_round();
      const int before = issued;
      for (int n = ready.next_on_gpus(0, turns); n >= 0; n = ready.next_on_gpus(n + 1, turns)) issue(n);
      if (issued != before) continue;
      // With GPUs one step of the host, and then theirs again.
      for (int n = ready.next_on_host(0); n >= 0; n = gpus.count() > 0 ? -1 : ready.next_on_host(n + 1)) issue(n);
      if (issued != before) continue;
      if constexpr (shares) {
        if (shared_.buckets.are_done() && shared_.updates.any()) {
          shared_.updates.release(issue);
          continue;
        }
        begin_bucket(shared_.all, shared_.buckets);
        shared_.buckets.release_first([&](int first) {
          for (int unit = first; unit >= 0; unit = shared_.all.next_twin(unit)) release(unit);
        });
      }
    }
  }

  /// A collective whose terms are made: it is begun with others, or alone where it is large.
  constexpr void collect(int unit) {
    collectives& all = shared_.all;
    if (all.first_twin(unit) != unit) return;
    all.for_each_term(unit, [&](int term) { add_transfer(term, all.place_of(unit, where_[term].where)); });
    const std::int64_t bytes = bytes_of(g_[unit].type, shapes_[unit]);
    if (!shared_.buckets.takes(all.key(unit), bytes)) begin_bucket(shared_.all, shared_.buckets);
    if (shared_.buckets.add(unit, all.key(unit), bytes)) begin_bucket(shared_.all, shared_.buckets);
  }

  /// Where a value is; one that several tasks have, for who reads it at a place.
  constexpr place home_of(int base, const place& at) const {
    if constexpr (shares) {
      if (is_shared(base)) {
        const int u = units_.kernel_of[base];
        if (!shared_.all.is_there(u, at)) return shared_.all.first_place(u);
        if (!shared_.all.is_repeated(u)) return shared_.all.place_of(u, at);
        for (int m = units_.first_member[u]; m >= 0; m = units_.next_member[m])
          if (!has_kernel(g_, m, at.kind)) return host_of(at);
        return at;
      }
    }
    return where_[base].where;
  }

  /// Makes what is read of `o` at a place available there; the value's number, or -1 where it is the caller's memory.
  constexpr int add_transfer(int o, const place& at) {
    const int base = base_of(g_, units_, o);
    if (const int v = find_value(base, at); v >= 0) return v;
    const graph_node& n = g_[base];
    const place home = home_of(base, at);
    if constexpr (shares) {
      if (is_together(base) && shared_.all.is_there(base, at))
        if (const int v = find_value(shared_.all.result_at(base, at), at); v >= 0) return v;
      if (const int u = units_.kernel_of[base]; u >= 0 && shared_.all.is_repeated(u)) {
        if (home == at) run_unit(u, at);
        if (const int v = find_value(base, at); v >= 0) return v;
        add_transfer(base, home);
      }
    }
    // Texts do not go between processes: a constant of texts is read where it is used, since all have it.
    const bool is_there = same_task(home, at) || (n.kind() == op_kind::constant && n.type == element::text);
    if (in_host_memory(n) && at.kind == device_kind::cpu && is_there) return -1;
    place from = in_host_memory(n) ? host_of(home) : home;
    if (n.kind() == op_kind::variable && from == at) return -1;
    int share = base;
    if (same_task(from, at)) {
      share = partial_transfer_of(g_, units_, where_, readers_, o, at);
      if (const int v = find_value(share, at); v >= 0) return v;
    }
    if constexpr (shares) {
      if (!same_task(from, at)) from = bring_near(base, from, at);
      if (const int v = find_value(base, at); v >= 0) return v;
    }
    plan_step s;
    s.kind = step_kind::transfer;
    s.direct = !same_task(from, at) && routes_.are_direct(from, at);
    s.node = share;
    s.at = at;
    s.from = from;
    s.source = find_value(base, from);
    if (s.source < 0) s.source = find_value(share, from);  // rows of a sum
    if (s.source >= 0) {
      r_.values[s.source].death = c_.steps;
      r_.values[s.source].copied = true;
    }
    s.value = new_value(share, at, c_.steps);
    const std::int64_t bytes = r_.values[s.value].bytes;
    c_.transfer_bytes = known_sum(c_.transfer_bytes, bytes);
    ++c_.transfers;
    if (!same_task(from, at)) {
      c_.message_bytes = known_sum(c_.message_bytes, bytes);
      ++c_.messages;
      if (s.direct) count_direct(bytes);
    }
    add_step(s);
    return s.value;
  }

  /// A value of another task, from where it is copied to `at`: from where that task has it already, or from GPU to GPU
  /// where these do that among themselves; else from host memory to host memory, or the memory of GPUs that messages
  /// begin and end in.
  constexpr place bring_near(int base, place from, const place& at) {
    if (const place there = place_in_task(base, at); there.is_set()) return there;
    if (is_for_many(shared_.all, base, from)) {
      if (!is_direct_for_many(shared_.all, base, from) && from.kind != device_kind::cpu) {
        from = host_of(from);
        add_transfer(base, from);
      }
      broadcast(shared_.all, base, from);
      if (const place there = place_in_task(base, at); there.is_set()) return there;
    }
    if (routes_.are_direct(from, at)) return from;
    if (const place end = routes_.end_of_message(from); !(from == end)) {
      from = end;
      add_transfer(base, from);
    }
    if (const place end = routes_.end_of_message(at); !(at == end)) {
      from = end;
      add_transfer(base, from);
    }
    return from;
  }

  /// Copies what a unit reads from elsewhere to where it runs; `between_gpus`: what other GPUs made, to a GPU alone.
  /// *Returns* whether there is such.
  constexpr bool add_transfers(int unit, bool between_gpus) {
    return add_transfers(unit, where_[unit].where, between_gpus);
  }
  constexpr bool add_transfers(int unit, const place& at, bool between_gpus) {
    bool any = false;
    if (between_gpus && is_shared(unit)) return any;
    for (int m = units_.first_member[unit]; m >= 0; m = units_.next_member[m]) {
      for (int k = 0; k < g_[m].count; ++k) {
        const int o = g_.operand(m, k), b = base_of(g_, units_, o);
        if (g_[o].kind() == op_kind::scalar || units_.kernel_of[b] == unit) continue;
        const place from = units_.kernel_of[b] < 0 || is_shared(b) ? host : where_[b].where;
        if (between_gpus && (at.kind == device_kind::cpu || from.kind == device_kind::cpu || from == at)) continue;
        add_transfer(o, at);
        any = true;
      }
    }
    return any;
  }

  /// The same of what other tasks have.
  constexpr void add_messages(int unit) {
    const place& at = where_[unit].where;
    for (int m = units_.first_member[unit]; m >= 0; m = units_.next_member[m]) {
      for (int k = 0; k < g_[m].count; ++k) {
        const int o = g_.operand(m, k), b = base_of(g_, units_, o);
        if (g_[o].kind() != op_kind::scalar && units_.kernel_of[b] != unit && !same_task(home_of(b, at), at))
          add_transfer(o, at);
      }
    }
  }

  constexpr void run_unit(int unit, const place& at) {
    add_transfers(unit, at, false);
    // Only now is the number of this step known: what it reads lives until here.
    for (int m = units_.first_member[unit]; m >= 0; m = units_.next_member[m]) {
      c_.flops = known_sum(c_.flops, flops_of(g_, shapes_, m));
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
    add_step(s);
    ++c_.kernels;
  }

  constexpr void add_step(plan_step& s) {
    if constexpr (shares) s.in_update = shared_.updates.is_releasing();
    r_.steps[c_.steps++] = s;
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

  /// A result arrives in every process, or where a task is asked for there alone.
  constexpr void fetch(int fetch) {
    const int node = g_.fetches[fetch];
    const place& home = where_[node].where;
    if (targets_.count == 0 || (targets_.requests && targets_.requests[node].in_task)) return fetch_copy(fetch, home);
    for (int d = 0; d < targets_.count; ++d) {
      bool first = true;
      for (int c = 0; c < d && first; ++c) first = !same_task(targets_.devices[c], targets_.devices[d]);
      if (first) fetch_copy(fetch, same_task(targets_.devices[d], home) ? home : host_of(targets_.devices[d]));
    }
  }

  /// `at`: where the value is, or the host's memory of another task.
  constexpr void fetch_copy(int fetch, const place& at) {
    const int node = g_.fetches[fetch];
    const place to = at.kind == device_kind::cpu ? at : host_of(at);
    const bool arrives = !same_task(at, where_[node].where) || is_shared(node);
    const bool runs = units_.kernel_of[node] >= 0 || arrives;
    int v = find_value(node, to);
    if (v < 0 && (arrives || (at.kind != device_kind::cpu && !in_host_memory(g_[node])))) v = add_transfer(node, to);
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
    s.at = to;
    s.source = v;
    s.fetch = fetch;
    r_.steps[c_.steps++] = s;
    ++c_.kernels;
  }

  kernel_partition whole_;
  kernel_partition parts_;
  Shared shared_;
};

using scheduler = basic_scheduler<nothing_shared>;
using scheduler_over_tasks = basic_scheduler<shared_values>;

}  // namespace detail

}  // namespace onto

ONTO_END_RUNS_ONCE
