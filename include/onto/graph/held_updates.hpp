// SPDX-License-Identifier: BSL-1.0
// Updates of variables that several sessions share: the units that write them, and what is computed for those alone,
// are held back until there is nothing else to do. So they come in a row, and all that they need of other tasks is
// there.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/kernels.hpp>
#include <onto/graph/placer.hpp>
#include <onto/graph/readers.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class held_updates {
 public:
  /// `wanted`: or none is held back.
  constexpr held_updates(int units, bool wanted)
      : held_(wanted ? units : 0), waiting_(wanted ? units : 0), wanted_(wanted) {}

  /// *Complexity* edges, for each kernel in a row that updates alone need.
  constexpr void find(const graph_view& g, const kernel_partition& units, const node_placement* where,
                      const base_readers& readers) {
    for (bool more = wanted_; more;) {
      more = false;
      for (int u = 0; u < g.count; ++u) {
        if (units.kernel_of[u] != u || held_.get()[u]) continue;
        held_.get()[u] = is_update(g, units, where, readers, u);
        more = more || held_.get()[u];
      }
    }
  }
  constexpr bool holds(int unit) const { return wanted_ && held_.get()[unit]; }
  constexpr void add(int unit) { waiting_.get()[count_++] = unit; }
  constexpr bool any() const { return issued_ < count_; }
  /// Calls `issue(unit)`, which may add more, for all that are held back now.
  template <class F>
  constexpr void release(const F& issue) {
    is_releasing_ = true;
    for (const int end = count_; issued_ < end;) issue(waiting_.get()[issued_++]);
    is_releasing_ = false;
  }
  /// Whether what is issued is part of an update.
  constexpr bool is_releasing() const { return is_releasing_; }

 private:
  constexpr bool is_update(const graph_view& g, const kernel_partition& units, const node_placement* where,
                           const base_readers& readers, int u) const {
    for (int m = units.first_member[u]; m >= 0; m = units.next_member[m])
      if (g[m].kind() == op_kind::assign) return true;
    bool is_read = false;
    for (int m = units.first_member[u]; m >= 0; m = units.next_member[m]) {
      for (const int* r = readers.begin(m); r != readers.end(m); ++r) {
        const int other = units.kernel_of[*r];
        if (other == u) continue;
        if (other < 0 || !held_.get()[other] || !same_task(where[u].where, where[other].where)) return false;
        is_read = true;
      }
      for (int k = 0; k < g.fetch_count; ++k)
        if (base_of(g, units, g.fetches[k]) == m) return false;
    }
    return is_read;
  }

  scratch_array<bool> held_;  // per unit
  scratch_array<int> waiting_;
  bool wanted_;
  bool is_releasing_ = false;
  int count_ = 0;
  int issued_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
