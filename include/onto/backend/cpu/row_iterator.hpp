// SPDX-License-Identifier: BSL-1.0
// Maps over rows: operands whose rows lie next to each other are read where they are, others are gathered in
// L1 by the row or, where they are transposed, by tiles.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/span.hpp>
#include <onto/backend/cpu/stream.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// A map's space in as few dimensions as its operands allow. The innermost is the row, which is repeated over `count`
/// rows and further dimensions outside them.
struct row_space {
  coalesced_space outside;  // the dimensions outside the row
  int inner = -1;           // the row's
  int around = 0;           // the innermost outside the row
  std::int64_t length = 1;  // of a row
  std::int64_t count = 1;   // of rows that follow each other with one stride in every operand
  bool transposed = false;  // an operand's columns lie next to each other, and not its rows

  // A transposed operand is brought by tiles of so many rows and columns. Measured: where all of it is in L2,
  // small tiles stay in the first and take three quarters of the time of large ones (316 x 316 floats); from memory
  // large ones touch each page once, and take two fifths of the time of small ones (3162 x 3162).
  std::int64_t tile_rows = 16;
  std::int64_t tile_columns = 128;

  explicit row_space(const kernel_call& c);
};

/// How a kernel's result is written.
enum class result_store {
  cached,
  streamed,  // past the caches, by the program's own stores
  copied     // past the caches, from L1: what does not run on packs
};

/// A part of a map whose operands lie next to each other, at `in`, which it may change.
ONTO_NOINLINE inline void store_span(span_function span, result_store how, const kernel_call& call, const void** in,
                                     std::int64_t first, std::int64_t n) {
  char* out = static_cast<char*>(advance(call.out.data, first, call.out.type));
  if (how == result_store::cached) return span({in, out, first, n, call.scalars});
  const std::int64_t size = size_of(call.out.type);
  const auto pass = [&](std::int64_t some) {
    for (int i = 0; i < call.inputs; ++i) in[i] = advance(in[i], some, call.in[i].type);
    out += some * size;
    first += some;
    n -= some;
  };
  if (how == result_store::streamed) {
    std::int64_t head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(out) & 63) / size;
    if (head > n) head = n;
    if (head > 0) {
      span({in, out, first, head, call.scalars});
      pass(head);
    }
    if (n > 0) span({in, out, first, n, call.scalars, nullptr, true});
    return;
  }
  alignas(64) char result[streamed_at_once];
  while (n > 0) {
    const std::int64_t some = n < streamed_at_once / size ? n : streamed_at_once / size;
    span({in, result, first, some, call.scalars});
    stream_copy(out, result, some * size);
    pass(some);
  }
}

/// Walks over a map's rows. What it does for a part of a row is what a run does: pointers to elements next to each
/// other, the program, the result to where it belongs.
class row_iterator {
 public:
  static constexpr std::int64_t most = 1024;  // elements of an operand that are gathered at once

  row_iterator(const kernel_call& call, const row_space& rows, span_function span, result_store how,
               copy_function copy);

  /// Elements `[lo, hi)`.
  void run(std::int64_t lo, std::int64_t hi) {
    std::int64_t column = lo % rows_.length;
    go_to(lo / rows_.length);
    while (lo < hi) {
      std::int64_t n = rows_.length - column < hi - lo ? rows_.length - column : hi - lo;
      if (column == 0 && !brings_) {
        for (int i = 0; i < call_.inputs; ++i) pointers_[i] = operands_[i].place;
      } else {
        if (brings_ && n > most) n = most;
        for (int i = 0; i < call_.inputs; ++i) pointers_[i] = part(operands_[i], column, n);
      }
      run_span(lo, n);
      lo += n;
      column += n;
      if (column < rows_.length) continue;
      column = 0;
      next_row();
    }
  }

  /// Tiles `[lo, hi)`, where an operand is transposed.
  void run_tiles(std::int64_t lo, std::int64_t hi) {
    const std::int64_t across = tiles_across(rows_), down = tiles_down(rows_);
    for (; lo < hi; ++lo) {
      const std::int64_t first_column = lo % across * rows_.tile_columns, row = lo / across % down * rows_.tile_rows;
      const std::int64_t first_row = lo / across / down * rows_.count + row;
      const std::int64_t columns =
          rows_.length - first_column < rows_.tile_columns ? rows_.length - first_column : rows_.tile_columns;
      const std::int64_t rows = rows_.count - row < rows_.tile_rows ? rows_.count - row : rows_.tile_rows;
      go_to(first_row);
      for (int i = 0; i < call_.inputs; ++i) {
        const operand& o = operands_[i];
        if (o.step != 1)
          copy_(o.size, o.slot, columns, 1, o.place + first_column * o.step * o.size, o.down / o.size, o.step, rows,
                columns);
      }
      for (std::int64_t r = 0; r < rows; ++r) {
        for (int i = 0; i < call_.inputs; ++i) {
          const operand& o = operands_[i];
          pointers_[i] = o.step != 1 ? o.slot + r * columns * o.size : o.place + r * o.down + first_column * o.size;
        }
        run_span((first_row + r) * rows_.length + first_column, columns);
      }
    }
  }

  ONTO_INLINE static std::int64_t tiles_across(const row_space& rows) {
    return (rows.length + rows.tile_columns - 1) / rows.tile_columns;
  }
  ONTO_INLINE static std::int64_t tiles_down(const row_space& rows) {
    return (rows.count + rows.tile_rows - 1) / rows.tile_rows;
  }

 private:
  struct operand {
    const char* place;   // of the row's first element
    std::int64_t step;   // from an element of a row to the next, in elements
    std::int64_t down;   // from a row to the next, in bytes
    char* slot;          // where elements that do not lie next to each other are gathered
    const void* repeat;  // the element that is repeated there
    int size;            // of an element, in bytes
  };

  static std::int64_t held(const row_space& rows) {
    return rows.transposed      ? rows.tile_rows * rows.tile_columns
           : rows.length < most ? (rows.length + 15) / 16 * 16
                                : most;
  }
  static std::int64_t bytes_to_hold(const kernel_call& call, const row_space& rows) {
    std::int64_t bytes = 0;
    for (int i = 0; i < call.inputs; ++i) bytes += size_of(call.in[i].type);
    return bytes * held(rows);
  }

  void go_to(std::int64_t row) {
    std::int64_t at[max_rank];
    rows_.outside.locate(row, at);
    for (int i = 0; i < call_.inputs; ++i)
      operands_[i].place = static_cast<const char*>(
          advance(call_.in[i].data, rows_.outside.offset_of(at, call_.in[i].stride), call_.in[i].type));
    following_ = rows_.count - row % rows_.count;
    next_ = row + following_;
  }

  void next_row() {
    if (--following_ == 0) return go_to(next_);
    for (int i = 0; i < call_.inputs; ++i) operands_[i].place += operands_[i].down;
  }

  /// Elements `[column, column + n)` of the row of an operand, next to each other.
  ONTO_NOINLINE const void* part(operand& o, std::int64_t column, std::int64_t n) {
    const char* const from = o.place + column * o.step * o.size;
    if (o.step == 1) return from;
    if (o.step == 0) {  // filled when another element is repeated
      if (o.repeat == from) return o.slot;
      o.repeat = from;
      n = held_;
    }
    copy_(o.size, o.slot, n, 1, from, 0, o.step, 1, n);
    return o.slot;
  }

  /// The results of `n` elements from `first` on, the operands of which are where `pointers_` says.
  ONTO_INLINE void run_span(std::int64_t first, std::int64_t n) {
    if (how_ != result_store::cached) return store_span(span_, how_, call_, pointers_.data(), first, n);
    span_({pointers_.data(), static_cast<char*>(call_.out.data) + first * out_size_, first, n, call_.scalars});
  }

  const kernel_call& call_;
  const row_space& rows_;
  span_function span_;
  copy_function copy_;
  result_store how_;
  bool brings_ = false;  // whether elements have to be moved
  std::int64_t held_;    // elements that a slot has room for
  std::int64_t out_size_;
  std::int64_t following_;                 // rows that follow each other, from the one that is read on
  std::int64_t next_;                      // the row after them
  small_array<const void*, 16> pointers_;  // for the program
  small_array<operand, 16> operands_;
  small_array<char, 16384> buffer_;
};

inline row_space::row_space(const kernel_call& c) {
  dimension_set joined = ~0u;
  for (int i = 0; i < c.inputs; ++i) joined &= joined_dimensions(c.space, c.in[i].stride);
  outside = coalesce(c.space, joined);
  if (outside.rank > 0) {
    inner = outside.dimension[--outside.rank];
    length = outside.extent[outside.rank];
  }
  if (outside.rank > 0) {
    count = outside.extent[outside.rank - 1];
    around = outside.dimension[outside.rank - 1];
  }
  for (int i = 0; i < c.inputs && outside.rank > 0; ++i) {
    const std::int64_t step = c.in[i].stride[inner];
    if (step == 0 || step == 1 || c.in[i].stride[around] != 1) continue;
    transposed = true;
    if (length * count * size_of(c.in[i].type) <= 1 << 20) continue;
    tile_rows = 32;
    tile_columns = 320;
  }
}

inline row_iterator::row_iterator(const kernel_call& call, const row_space& rows, span_function span, result_store how,
                                  copy_function copy)
    : call_(call),
      rows_(rows),
      span_(span),
      copy_(copy),
      how_(how),
      held_(held(rows)),
      out_size_(size_of(call.out.type)),
      pointers_(call.inputs),
      operands_(call.inputs),
      buffer_(bytes_to_hold(call, rows)) {
  char* slot = buffer_.data();
  for (int i = 0; i < call.inputs; ++i) {
    operand& o = operands_[i];
    o.size = size_of(call.in[i].type);
    o.step = rows.length == 1 ? 1 : call.in[i].stride[rows.inner];
    o.down = call.in[i].stride[rows.around] * o.size;
    o.place = static_cast<const char*>(call.in[i].data);
    o.slot = slot;
    o.repeat = nullptr;
    if (o.step == 1) continue;
    brings_ = true;
    slot += held_ * o.size;
  }
}

}  // namespace onto::detail
