// SPDX-License-Identifier: BSL-1.0
// The steps of a schedule in which several tasks take part, and the values that a schedule has made so far.
#pragma once

#include <onto/graph/collective_buckets.hpp>
#include <onto/graph/collectives.hpp>
#include <onto/graph/cost.hpp>
#include <onto/graph/device_routes.hpp>
#include <onto/graph/plan_step.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Makes them.
class collective_steps {
 protected:
  constexpr explicit collective_steps(const schedule_input& in)
      : g_(in.graph),
        units_(in.scratch.units),
        shapes_(in.shapes),
        where_(in.where),
        readers_(g_, in.whole),
        r_(in.scratch),
        targets_(in.targets),
        routes_(in.targets, in.links) {}

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

  /// A step for each task of what was collected.
  constexpr void begin_bucket(const collectives& all, collective_buckets& buckets) {
    if (buckets.is_empty()) return;
    const int first = *buckets.begin();
    const step_kind kind = all.kind(first);
    schedule_counts::collective& counts = c_.of(kind);
    all.for_each_term(first, [&](int term) {
      plan_step s;
      s.kind = kind;
      s.node = first;
      s.at = all.place_of(first, where_[term].where);
      s.value = c_.values;
      s.bucket = counts.count;
      s.direct = all.is_direct(first);
      for (const int* unit = buckets.begin(); unit != buckets.end(); ++unit) {
        const int given = all.term_at(*unit, s.at);
        r_.values[new_value(all.result_at(*unit, s.at), s.at, c_.steps)].term = given;
        if (const int v = find_value(given, s.at); v >= 0) r_.values[v].copied = true;
      }
      s.more = c_.values - s.value - 1;
      r_.steps[c_.steps++] = s;
    });
    std::int64_t bytes = 0;
    for (const int* unit = buckets.begin(); unit != buckets.end(); ++unit)
      bytes = known_sum(bytes, bytes_of(g_[*unit].type, shapes_[*unit]));
    counts.bytes = known_sum(counts.bytes, bytes);
    ++counts.count;
    if (all.is_direct(first)) count_direct(bytes);
    buckets.close();
  }

  /// From so many other tasks on a value goes to them by a broadcast. To fewer its owner sends it, which is the same.
  static constexpr int enough_for_broadcast = 3;

  /// Calls `f(host)` for each other task that uses a value and has it not.
  template <class F>
  constexpr void for_each_target(const collectives& all, int base, const place& from, const F& f) const {
    for (int d = 0; d < targets_.count; ++d) {
      const place& at = targets_.devices[d];
      bool first = !same_task(at, from);
      for (int c = 0; c < d && first; ++c) first = !same_task(targets_.devices[c], at);
      if (first && !place_in_task(base, at).is_set() && is_used_on(all, base, at)) f(host_of(at));
    }
  }

  /// Whether a value is to go from its task to all others that use it and have it not, since they are many.
  constexpr bool is_for_many(const collectives& all, int base, const place& from) const {
    int others = 0;
    for_each_target(all, base, from, [&](const place&) { ++others; });
    return others >= enough_for_broadcast;
  }
  /// Whether GPUs do that among themselves: each of these tasks has a GPU that reads the value, no two the same.
  constexpr bool is_direct_for_many(const collectives& all, int base, const place& from) const {
    bool good = routes_.of(from).hardware != 0;
    int targets = 0;
    for_each_target(all, base, from, [&](const place& task) {
      const place at = gpu_reading(all, base, task);
      int before = 0;
      ++targets;
      good = good && routes_.are_direct(from, at);
      for_each_target(all, base, from, [&](const place& other) {
        if (++before < targets && !routes_.are_direct(gpu_reading(all, base, other), at)) good = false;
      });
    });
    return good;
  }

  /// Brings it there, from host memory to host memory or from GPU to GPUs.
  constexpr void broadcast(const collectives& all, int base, const place& from) {
    plan_step s;
    s.kind = step_kind::broadcast;
    s.node = base;
    s.at = s.from = from;
    s.direct = from.kind != device_kind::cpu;
    s.bucket = c_.broadcasts.count++;
    s.source = find_value(base, from);
    if (s.source >= 0) r_.values[s.source].copied = true;
    r_.steps[c_.steps++] = s;
    s.source = -1;
    for_each_target(all, base, from, [&](const place& task) {
      s.at = s.direct ? gpu_reading(all, base, task) : task;
      s.value = new_value(base, s.at, c_.steps);
      r_.values[s.value].copied = true;  // it may be sent on
      r_.steps[c_.steps++] = s;
    });
    const std::int64_t bytes = bytes_of(g_[base].type, shapes_[base]);
    c_.broadcasts.bytes = known_sum(c_.broadcasts.bytes, bytes);
    if (s.direct) count_direct(bytes);
  }

  constexpr void count_direct(std::int64_t bytes) {
    ++c_.direct;
    c_.direct_bytes = known_sum(c_.direct_bytes, bytes);
  }

  /// Where the task of `at` has a value by now: the host's memory first; unset where it has not.
  constexpr place place_in_task(int base, const place& at) const {
    if (find_value(base, host_of(at)) >= 0) return host_of(at);
    for (int v = r_.value_of[base]; v >= 0; v = r_.values[v].next)
      if (same_task(r_.values[v].at, at)) return r_.values[v].at;
    return {};
  }

  const graph_view& g_;
  kernel_partition units_;  // of room's arrays
  const extents* shapes_;
  const node_placement* where_;
  base_readers readers_;
  schedule_scratch r_;
  fetch_targets targets_;
  device_routes routes_;
  schedule_counts c_{};

 private:
  /// The first GPU of a task that reads a value; its host where there is none.
  constexpr place gpu_reading(const collectives& all, int base, const place& task) const {
    for (int d = 0; d < targets_.count; ++d) {
      const place& at = targets_.devices[d];
      if (!same_task(at, task) || at.kind == device_kind::cpu) continue;
      for (const int* m = readers_.begin(base); m != readers_.end(base); ++m)
        if (!all.has(*m) && where_[units_.kernel_of[*m]].where == at) return at;
    }
    return task;
  }
  /// Whether a task reads what is made of a node, or wants it as a result.
  constexpr bool is_used_on(const collectives& all, int base, const place& at) const {
    for (const int* m = readers_.begin(base); m != readers_.end(base); ++m)
      if (!all.has(*m) && same_task(where_[units_.kernel_of[*m]].where, at)) return true;
    for (int k = 0; k < g_.fetch_count; ++k) {
      const int f = g_.fetches[k];
      if (base_of(g_, units_, f) == base && !(targets_.requests && targets_.requests[f].in_task)) return true;
    }
    return false;
  }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
