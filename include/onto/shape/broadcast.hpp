// SPDX-License-Identifier: BSL-1.0
// NumPy's broadcasting: shapes are aligned at the last dimension, and an extent of 1 stretches.
#pragma once

#include <onto/shape/extents.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// The common shape of two operands.
/// *Effects* `ok` becomes false where extents differ and neither is 1. An unknown extent beside a known one other than
/// 1 is taken to be that one; it is checked when it is known.
constexpr extents broadcast(const extents& a, const extents& b, bool& ok) {
  extents r;
  r.rank = a.rank > b.rank ? a.rank : b.rank;
  for (int k = 1; k <= r.rank; ++k) {
    const int x = k <= a.rank ? a.dims[a.rank - k] : 1;
    const int y = k <= b.rank ? b.dims[b.rank - k] : 1;
    int e = x;
    if (x == y) {
      e = x;
    } else if (x == 1) {
      e = y;
    } else if (y == 1) {
      e = x;
    } else if (x == dyn) {
      e = y;
    } else if (y == dyn) {
      e = x;
    } else {
      ok = false;
    }
    r.dims[r.rank - k] = e;
  }
  return r;
}

/// The shape of a variable of the shape `variable` that holds `value`, which stretches to it and decides extents that
/// are not known. *Effects* `ok` becomes false where it cannot.
ONTO_INLINE constexpr extents broadcast_into(extents variable, const extents& value, bool& ok) {
  if (value.rank > variable.rank) ok = false;
  for (int k = 1; k <= value.rank && ok; ++k) {
    int& mine = variable[variable.rank - k];
    const int theirs = value[value.rank - k];
    if (theirs == dyn || theirs == 1 || theirs == mine) continue;
    ok = mine == dyn;
    mine = theirs;
  }
  return variable;
}

constexpr bool broadcasts_into(const extents& variable, const extents& value) {
  bool ok = true;
  static_cast<void>(broadcast_into(variable, value, ok));
  return ok;
}

/// The axis `axis` of a tensor of `rank` dimensions, negative ones counted from the end; -1 where there is none such.
ONTO_INLINE constexpr int normalize_axis(int axis, int rank) {
  const int a = axis < 0 ? axis + rank : axis;
  return a >= 0 && a < rank ? a : -1;
}

}  // namespace onto
ONTO_END_RUNS_ONCE
