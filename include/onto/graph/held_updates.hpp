// SPDX-License-Identifier: BSL-1.0
// Units that write variables, held back until there is nothing else to do: what sessions share is then changed at once.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/kernels.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class held_updates {
 public:
  /// `wanted`: or none is held back.
  constexpr held_updates(int units, bool wanted) : units_(wanted ? units : 0), wanted_(wanted) {}

  constexpr bool holds(const graph_view& g, const kernel_partition& units, int unit) const {
    bool writes = false;
    for (int m = wanted_ ? units.first_member[unit] : -1; m >= 0; m = units.next_member[m])
      writes = writes || g[m].kind() == op_kind::assign;
    return writes;
  }
  constexpr void add(int unit) { units_.get()[count_++] = unit; }
  constexpr bool any() const { return issued_ < count_; }
  /// Calls `issue(unit)`, which may add more, for all that are held back now.
  template <class F>
  constexpr void release(const F& issue) {
    for (const int end = count_; issued_ < end;) issue(units_.get()[issued_++]);
  }

 private:
  scratch_array<int> units_;
  bool wanted_;
  int count_ = 0;
  int issued_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
