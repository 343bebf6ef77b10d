// SPDX-License-Identifier: BSL-1.0
// Rolled operands: elements are read further along an axis than they are, around its end, as periodic boundaries are.
#pragma once

#include <onto/backend/cpu/gather.hpp>

#include <cstdint>

namespace onto::detail {

/// A view in as few dimensions as say the same; of a rolled one, how much further along each its elements are read.
struct rolled_layout : layout {
  bool rolls;
  std::int64_t by[max_rank];
};

ONTO_BEGIN_RUNS_ONCE
/// How an operand of a map lies in memory. A dimension that is rolled is joined by those inside of it that are not.
inline rolled_layout layout_of_operand(const extents& space, const operand_view& v) {
  rolled_layout l;
  l.rolls = false;
  if (!v.rolled) {
    static_cast<strided_layout<1>&>(l) = coalesce<1>(space, {v.stride});
    return l;
  }
  dimension_set joined = joined_dimensions(space, v.stride);
  for (int d = 0; d < space.rank; ++d)
    if (v.rolled[d] != 0) joined &= ~(1u << d);
  const coalesced_space c = coalesce(space, joined);
  l.rank = c.rank;
  for (int k = 0; k < c.rank; ++k) {
    l.extent[k] = c.extent[k];
    l.stride[0][k] = v.stride[c.dimension[k]];
    l.by[k] = 0;
    for (int d = k == 0 ? 0 : c.dimension[k - 1] + 1; d <= c.dimension[k]; ++d)
      l.by[k] = l.by[k] * space.dims[d] + v.rolled[d];
    l.rolls = l.rolls || l.by[k] != 0;
  }
  if (c.rank > 0) return l;
  l.rank = 1;
  l.extent[0] = l.stride[0][0] = 1;
  return l;
}
ONTO_END_RUNS_ONCE

/// The elements of a rolled operand that lie in one row: the place of the first, and how many there are.
struct rolled_part {
  std::int64_t offset;
  std::int64_t count;
};

/// Those from the element at the row-major `index` on.
ONTO_INLINE rolled_part first_part(const rolled_layout& l, std::int64_t index) {
  rolled_part part{0, 0};
  for (int k = l.rank - 1; k >= 0; --k) {
    const std::int64_t at = k > 0 ? index % l.extent[k] : index, beyond = at + l.by[k] - l.extent[k];
    const std::int64_t from = beyond < 0 ? at + l.by[k] : beyond;
    if (k == l.rank - 1) part.count = l.extent[k] - (at > from ? at : from);
    part.offset += from * l.stride[0][k];
    index /= l.extent[k];
  }
  return part;
}

/// Elements `[first, first + count)` of a rolled operand, in row-major order, to `target`.
ONTO_NOINLINE inline void gather_rolled(const rolled_layout& l, int size, const void* source, std::int64_t first,
                                        std::int64_t count, void* target, copy_function copy) {
  char* out = static_cast<char*>(target);
  const std::int64_t step = l.inner_stride(), row = l.inner_extent();
  while (count > 0) {
    rolled_part part = first_part(l, first);
    // What is left of the row after it lies at the beginning.
    for (std::int64_t left = row - first % row; left > 0 && count > 0;) {
      if (part.count > count) part.count = count;
      const char* const in = static_cast<const char*>(source) + part.offset * size;
      if (step == 1)
        copy_row(out, in, part.count * size);
      else
        copy(size, out, part.count, 1, in, 0, step, 1, part.count);
      out += part.count * size;
      first += part.count;
      count -= part.count;
      left -= part.count;
      part = {part.offset + (part.count - row) * step, left};
    }
  }
}

}  // namespace onto::detail
