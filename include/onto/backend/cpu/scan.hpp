// SPDX-License-Identifier: BSL-1.0
// Scans on the CPU, over any axis: many columns side by side where the axis is not the last, and in blocks of one
// length whatever the number of threads, so that a result does not depend on it.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/backend/cpu/scan_tiles.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/kernel/scan.hpp>
#include <onto/ops/scan.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// A scan's space: (outer, n, inner), n along the axis. Its columns are scanned in lines of up to 512 neighbours, and a
/// line in blocks of rows, of a number that the shape alone decides.
struct scan_space {
  static constexpr std::int64_t most_columns = 512;  // of a line
  // And where operands are transposed: a cache line of floats. Measured beside the axis alone, ns an element: 3.9
  // and 9.1 (1024 x 1024), 6.1 and 8.1 (3162 x 3162), 2.1 and 1.7 (1000 x 1048).
  static constexpr std::int64_t transposed_columns = 16;
  static constexpr std::int64_t most = 8192, rows_at_least = 64;  // of a tile, a block of a line: elements, rows

  std::int64_t outer = 1, n = 1, inner = 1;
  std::int64_t width, lines_across;  // columns of a line but the last; lines beside each other
  std::int64_t lines;
  std::int64_t rows, blocks;  // of a block but the last; of a line
  bool backwards;
  bool transposed;  // the axis is the last, but it is along the one before it that operands are next to each other

  ONTO_COLD explicit scan_space(const kernel_call& call) : backwards(scans_backwards(*call.op)) {
    const int axis = scan_axis(*call.op, call.space.rank);
    n = call.space.dims[axis];
    for (int k = 0; k < axis; ++k) outer *= call.space.dims[k];
    for (int k = axis + 1; k < call.space.rank; ++k) inner *= call.space.dims[k];
    transposed =
        inner == 1 && n > 1 && axis > 0 && call.in[0].stride[axis - 1] == 1 && !is_half_precision(call.in[0].type);
    if (transposed) {
      inner = call.space.dims[axis - 1];
      outer /= inner;
    }
    const std::int64_t most_beside = transposed ? transposed_columns : most_columns;
    width = inner < most_beside ? inner : most_beside;
    lines_across = (inner + width - 1) / width;
    lines = outer * lines_across;
    rows = most / width > rows_at_least ? most / width : rows_at_least;
    if (rows > n) rows = n;
    blocks = (n + rows - 1) / rows;
  }
};

inline namespace ONTO_VECTOR_ABI {

/// A scan by `F` of operands that are computed in type `T`.
template <fold F, class T>
class cpu_scanner {
 public:
  using rule = scanning<F, T>;
  using term = typename rule::term;
  using result = typename rule::result;
  using terms = kept_terms<term>;

  cpu_scanner(const kernel_call& call, const scan_space& space)
      : call_(call),
        s_(space),
        in_{coalesce<1>(call.space, {call.in[0].stride})},
        narrow_(is_half_precision(call.in[0].type)),
        axis_(scan_axis(*call.op, call.space.rank)) {
    in_place_ = !narrow_;
    std::int64_t expected = 1;
    for (int k = call.space.rank - 1; k > axis_; --k) {
      in_place_ = in_place_ && (call.space.dims[k] == 1 || call.in[0].stride[k] == expected);
      expected *= call.space.dims[k];
    }
  }

  /// Each line from one end to the other: every element is read once.
  void run_lines(thread_pool& pool) const {
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      room r(*this);
      term memory[6][scan_space::most_columns];
      const terms before{memory[0], memory[1]}, total{memory[2], memory[3]}, kept{memory[4], memory[5]};
      for (; lo < hi; ++lo) {
        clear(before);
        for (std::int64_t b = 0; b < s_.blocks; ++b) {
          if (b + 1 == s_.blocks) {
            scan<scan_pass<true, false>>(r, lo, b, before, total);
          } else {
            copy(kept, before);
            scan<scan_pass<true, true>>(r, lo, b, kept, total);
            append(before, total);
          }
        }
      }
    };
    split(pool, s_.lines, grain / (s_.n * s_.width) + 1, body);
  }

  /// Whether lines are single rows, of an operand whose rows lie a stride apart: then there is nothing to find for
  /// each.
  bool by_rows() const {
    return s_.inner == 1 && s_.blocks == 1 && in_place_ &&
           (in_.rank == 1 || (in_.rank == 2 && in_.inner_extent() == s_.n));
  }
  void run_rows(thread_pool& pool) const {
    const std::int64_t n = s_.n, in_row = in_.inner_stride(), pitch = in_.rank == 1 ? n * in_row : in_.stride[0][0];
    const std::int64_t begin = s_.backwards ? n - 1 : 0, way = s_.backwards ? -1 : 1;
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      const T* in = static_cast<const T*>(call_.in[0].data) + lo * pitch + begin * in_row;
      result* out = static_cast<result*>(call_.out.data) + lo * n + begin;
      for (; lo < hi; ++lo, in += pitch, out += n) {
        term kept = rule::empty(), lost = 0;
        const terms before{&kept, &lost};
        for (std::int64_t k = 0; n < short_row && k < n; ++k) {
          rule::add(kept, lost, static_cast<term>(in[way * k * in_row]));
          out[way * k] = rule::finish(kept, lost);
        }
        if (n >= short_row)
          scan_column<rule, scan_pass<true, false>>(scan_tile<T, result>{in, way * in_row, out, way, n, 1}, before,
                                                    before);
      }
    };
    split(pool, s_.lines, grain / n + 1, body);
  }

  /// All blocks at once, for few lines and many threads: first what each block comes to, then the results.
  void run_blocks(thread_pool& pool) const {
    const std::int64_t count = s_.lines * s_.blocks;
    small_array<term, 64> kept(count * s_.width), lost(count * s_.width);
    const terms first{kept.data(), lost.data()};
    auto sum_up = [&](std::int64_t lo, std::int64_t hi) {
      room r(*this);
      for (; lo < hi; ++lo)
        scan<scan_pass<false, true>>(r, lo / s_.blocks, lo % s_.blocks, first + lo * s_.width, first + lo * s_.width);
    };
    split(pool, count, 1, sum_up);
    term memory[4][scan_space::most_columns];
    const terms before{memory[0], memory[1]}, total{memory[2], memory[3]};
    for (std::int64_t unit = 0; unit < count; ++unit) {
      if (unit % s_.blocks == 0) clear(before);
      const terms here = first + unit * s_.width;
      copy(total, here);
      copy(here, before);
      append(before, total);
    }
    auto store = [&](std::int64_t lo, std::int64_t hi) {
      room r(*this);
      for (; lo < hi; ++lo) {
        const terms here = first + lo * s_.width;
        scan<scan_pass<true, false>>(r, lo / s_.blocks, lo % s_.blocks, here, here);
      }
    };
    split(pool, count, 1, store);
  }

 private:
  static constexpr std::int64_t grain = 16384;  // elements
  static constexpr std::int64_t short_row = 16;

  /// Where a thread brings a tile's elements together, and its results where they are narrow or transposed.
  struct room {
    small_array<T, 2048> values;
    small_array<result, 2048> results;
    small_array<std::uint16_t, 2048> halves;

    explicit room(const cpu_scanner& s)
        : values(s.in_place_ ? 0 : s.s_.rows * s.s_.width),
          results(s.narrow_ || s.s_.transposed ? s.s_.rows * s.s_.width : 0),
          halves(s.narrow_ ? s.s_.rows * s.s_.width : 0) {}
  };

  void clear(const terms& t) const {
    for (std::int64_t j = 0; j < s_.width; ++j) {
      t.kept[j] = rule::empty();
      t.lost[j] = 0;
    }
  }
  void copy(const terms& to, const terms& from) const {
    for (std::int64_t j = 0; j < s_.width; ++j) {
      to.kept[j] = from.kept[j];
      to.lost[j] = from.lost[j];
    }
  }
  void append(const terms& to, const terms& next) const {
    for (std::int64_t j = 0; j < s_.width; ++j) rule::merge(to.kept[j], to.lost[j], next.kept[j], next.lost[j]);
  }

  /// From the operand's first element to the first one of `(outer index, ...)`.
  std::int64_t offset_of(std::int64_t outer) const {
    std::int64_t offset = 0;
    for (int k = axis_ - (s_.transposed ? 2 : 1); k >= 0; --k) {
      offset += outer % call_.space.dims[k] * call_.in[0].stride[k];
      outer /= call_.space.dims[k];
    }
    return offset;
  }

  /// Goes over a block of a line. *Effects* leaves what the block comes to in `total`, and anything in `kept`.
  template <class Pass>
  void scan(room& r, std::int64_t line, std::int64_t block, const terms& kept, const terms& total) const {
    const std::int64_t outer = line / s_.lines_across, start = line % s_.lines_across * s_.width;
    scan_tile<T, result> t;
    t.columns = s_.inner - start < s_.width ? s_.inner - start : s_.width;
    t.rows = s_.n - block * s_.rows < s_.rows ? s_.n - block * s_.rows : s_.rows;
    const std::int64_t row = s_.backwards ? s_.n - block * s_.rows - t.rows : block * s_.rows;
    const std::int64_t first = (outer * s_.n + row) * s_.inner + start;
    find_operand(t, r, outer, row, start, first);
    const bool apart = narrow_ || s_.transposed;
    t.out = apart ? r.results.data() : static_cast<result*>(call_.out.data) + first;
    t.out_row = apart ? t.columns : s_.inner;
    if (s_.backwards) {
      t.in += (t.rows - 1) * t.in_row;
      t.out += (t.rows - 1) * t.out_row;
      t.in_row = -t.in_row;
      t.out_row = -t.out_row;
    }
    if (t.columns == 1)
      scan_column<rule, Pass>(t, kept, total);
    else
      scan_columns<rule, Pass>(t, kept, total);
    if constexpr (Pass::stores) {
      if (s_.transposed)
        copy_elements(sizeof(result), static_cast<result*>(call_.out.data) + (outer * s_.inner + start) * s_.n + row,
                      s_.n, 1, r.results.data(), 1, t.columns, t.columns, t.rows);
      if constexpr (std::is_same_v<result, float>)
        if (narrow_) narrow_results(t, r, first);
    }
  }

  void find_operand(scan_tile<T, result>& t, room& r, std::int64_t outer, std::int64_t row, std::int64_t start,
                    std::int64_t first) const {
    const operand_view& x = call_.in[0];
    if (in_place_) {
      t.in = static_cast<const T*>(x.data) + offset_of(outer) + row * x.stride[axis_] + start;
      t.in_row = x.stride[axis_];
      return;
    }
    const bool together = t.columns == s_.inner;  // the rows of the tile follow each other
    const std::int64_t runs = together ? 1 : t.rows, length = together ? t.rows * t.columns : t.columns;
    char* const to = narrow_ ? reinterpret_cast<char*>(r.halves.data()) : reinterpret_cast<char*>(r.values.data());
    for (std::int64_t k = 0; k < runs; ++k)
      gather(in_, size_of(x.type), x.data, first + k * s_.inner, length, to + k * length * size_of(x.type));
    if constexpr (std::is_same_v<T, float>)
      if (narrow_) call_.half_precision->widen(x.type, r.halves.data(), t.rows * t.columns, r.values.data());
    t.in = r.values.data();
    t.in_row = t.columns;
  }

  void narrow_results(const scan_tile<T, result>& t, room& r, std::int64_t first) const {
    const bool together = t.columns == s_.inner;
    const std::int64_t runs = together ? 1 : t.rows, length = together ? t.rows * t.columns : t.columns;
    for (std::int64_t k = 0; k < runs; ++k)
      call_.half_precision->narrow(
          call_.out.type, r.results.data() + k * length, length,
          static_cast<char*>(call_.out.data) + (first + k * s_.inner) * size_of(call_.out.type));
  }

  const kernel_call& call_;
  const scan_space& s_;
  layout in_;
  bool narrow_, in_place_;
  int axis_;
};

/// The kernel of a scan by `F`. That of float takes half and bfloat16 too. Sums and products are kept as `scanning`
/// says, each block's from its beginning on, and joined to those of the blocks before it.
/// *Complexity* linear; twice that, over all threads, where there are fewer than half as many lines.
template <fold F, class T>
void cpu_scan(thread_pool& pool, const kernel_call& call) {
  if (call.space.size() <= 0) return;
  const scan_space space(call);
  const cpu_scanner<F, T> s(call, space);
  if (space.blocks > 1 && 2 * space.lines <= pool.size())
    s.run_blocks(pool);
  else if (s.by_rows())
    s.run_rows(pool);
  else
    s.run_lines(pool);
}

}  // namespace ONTO_VECTOR_ABI

template <fold F, int Axis, bool Reverse>
struct operation_kernels<op::scan<F, Axis, Reverse>, cpu_backend> {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_scan<F, computed_of<T>>>};
  }
};

}  // namespace onto::detail
