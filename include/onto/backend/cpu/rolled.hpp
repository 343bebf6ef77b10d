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
  dimension_set rolled = 0;
  for (int d = 0; v.rolled && d < space.rank; ++d)
    if (v.rolled[d] != 0) rolled |= 1u << d;
  static_cast<strided_layout<1>&>(l) = coalesce<1>(space, {v.stride}, rolled);
  std::int64_t joined = 1, by = 0;  // of dimension `k`, so far
  for (int d = 0, k = 0; v.rolled && d < space.rank; ++d) {
    if (space.dims[d] == 1) continue;
    joined *= space.dims[d];
    by = by * space.dims[d] + v.rolled[d];
    if (joined < l.extent[k]) continue;
    l.by[k++] = by;
    l.rolls = l.rolls || by != 0;
    joined = 1;
    by = 0;
  }
  return l;
}
ONTO_END_RUNS_ONCE

/// Goes through the elements of a rolled operand in row-major order, from one on, in parts that lie in one row. Only
/// where it starts are there divisions.
class rolled_cursor {
 public:
  std::int64_t offset;

  ONTO_INLINE rolled_cursor(const rolled_layout& l, std::int64_t index) : offset(0), l_(l) {
    for (int k = l.rank - 1; k >= 0; --k) {
      const std::int64_t before = k > 0 ? index / l.extent[k] : 0;
      at_[k] = index - before * l.extent[k];
      from_[k] = at_[k] + l.by[k];
      if (from_[k] >= l.extent[k]) from_[k] -= l.extent[k];
      offset += from_[k] * l.stride[0][k];
      index = before;
    }
  }

  /// How many elements the part has that begins here, at `offset`.
  ONTO_INLINE std::int64_t count() const {
    const int k = l_.rank - 1;
    return l_.extent[k] - (at_[k] > from_[k] ? at_[k] : from_[k]);
  }

  /// Past the whole rows that begin here, of those of `count` elements that lie a stride apart. *Returns* how many.
  ONTO_INLINE std::int64_t advance_rows(std::int64_t count) {
    if (l_.rank != 2 || l_.by[0] != 0 || at_[1] != 0) return 0;
    const std::int64_t rows = count / l_.extent[1];
    at_[0] += rows;
    from_[0] += rows;
    offset += rows * l_.stride[0][0];
    return rows;
  }

  /// Past `n` elements of the part.
  ONTO_INLINE void advance(std::int64_t n) {
    for (int k = l_.rank - 1; k >= 0; --k, n = 1) {
      at_[k] += n;
      from_[k] += n;
      offset += n * l_.stride[0][k];
      if (from_[k] == l_.extent[k]) {
        from_[k] = 0;
        offset -= l_.extent[k] * l_.stride[0][k];
      }
      if (at_[k] < l_.extent[k]) return;
      at_[k] = 0;
    }
  }

 private:
  const rolled_layout& l_;
  std::int64_t at_[max_rank], from_[max_rank];  // of the result, and of what is read
};

/// The `count` elements from a cursor on, in row-major order, to `target`.
ONTO_NOINLINE inline void gather_rolled(rolled_cursor from, const rolled_layout& l, int size, const void* source,
                                        std::int64_t count, void* target, copy_function copy) {
  char* out = static_cast<char*>(target);
  const std::int64_t step = l.inner_stride();
  while (count > 0) {
    const char* const in = static_cast<const char*>(source) + from.offset * size;
    if (const std::int64_t rows = from.advance_rows(count); rows > 0) {  // both parts of all of them
      const std::int64_t columns = l.extent[1], by = l.by[1], apart = l.stride[0][0];
      copy(size, out, columns, 1, in, apart, step, rows, columns - by);
      copy(size, out + (columns - by) * size, columns, 1, in - by * step * size, apart, step, rows, by);
      out += rows * columns * size;
      count -= rows * columns;
      continue;
    }
    const std::int64_t n = count < from.count() ? count : from.count();
    if (step == 1)
      copy_row(out, in, n * size);
    else
      copy(size, out, n, 1, in, 0, step, 1, n);
    out += n * size;
    count -= n;
    from.advance(n);
  }
}

}  // namespace onto::detail
