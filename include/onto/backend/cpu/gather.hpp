// SPDX-License-Identifier: BSL-1.0
// Elements of views (broadcast, strided, transposed) gathered next to each other. Elements are moved as words of their
// size, so nothing here depends on a program or a type.
#pragma once

#include <onto/backend/cpu/vector_shuffle.hpp>
#include <onto/core/config.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/runtime/kernel.hpp>
#include <onto/tensor/storage.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace onto::detail {

// Words that may hold a value of any type: the compiler must not take them for other objects than the floats they are.
#if defined(__GNUC__)
#define ONTO_MAY_ALIAS __attribute__((may_alias))
#else
#define ONTO_MAY_ALIAS
#endif
template <int Size>
struct word_of;
template <>
struct word_of<1> {
  typedef std::uint8_t ONTO_MAY_ALIAS type;
};
template <>
struct word_of<2> {
  typedef std::uint16_t ONTO_MAY_ALIAS type;
};
template <>
struct word_of<4> {
  typedef std::uint32_t ONTO_MAY_ALIAS type;
};
template <>
struct word_of<8> {
  typedef std::uint64_t ONTO_MAY_ALIAS type;
};
#undef ONTO_MAY_ALIAS

template <int Size>
using word = typename word_of<Size>::type;

/// An array for a short while: on the stack up to `N` elements, beyond in memory as tensors have it, which waits for
/// the next run where it is large. Not initialized.
template <class T, int N>
class small_array {
 public:
  ONTO_INLINE explicit small_array(std::int64_t n)
      : bytes_(n <= N ? 0 : static_cast<std::size_t>(n) * sizeof(T)),
        data_(n <= N ? local_ : static_cast<T*>(allocate_storage(bytes_))) {}
  small_array(const small_array&) = delete;
  small_array& operator=(const small_array&) = delete;
  ONTO_INLINE ~small_array() {
    if (data_ != local_) release_storage(data_, bytes_);
  }
  ONTO_INLINE T* data() { return data_; }
  ONTO_INLINE T& operator[](std::int64_t k) { return data_[k]; }
  ONTO_INLINE const T& operator[](std::int64_t k) const { return data_[k]; }

 private:
  static_assert(__is_trivial(T));

  alignas(64) T local_[static_cast<std::size_t>(N)];
  std::size_t bytes_;
  T* data_;
};

/// A view in as few dimensions as say the same.
struct layout : strided_layout<1> {
  ONTO_INLINE std::int64_t inner_extent() const { return extent[rank - 1]; }
  ONTO_INLINE std::int64_t inner_stride() const { return stride[0][rank - 1]; }
  ONTO_INLINE bool contiguous() const { return rank == 1 && stride[0][0] == 1; }
  ONTO_INLINE bool uniform() const { return rank == 1 && stride[0][0] == 0; }
};

/// Copies by 64 bytes, which the compiler does in vectors.
ONTO_NOINLINE inline void copy_by_lines(char* out, const char* in, std::int64_t bytes) {
  for (; bytes >= 64; bytes -= 64, out += 64, in += 64) {
    char line[64];
    std::memcpy(line, in, 64);
    std::memcpy(out, line, 64);
  }
  std::memcpy(out, in, static_cast<std::size_t>(bytes));
}

/// Copies a row. Long ones the C library copies by one instruction of the processor (rep movsb), which goes byte by
/// byte, ten times as long, where the last 12 bits of addresses say that it writes a little behind what it reads: on an
/// EPYC, from 2 kB on, 1 to 31 bytes behind. Elsewhere both may differ, so there is room beside them.
ONTO_INLINE void copy_row(char* out, const char* in, std::int64_t bytes) {
  const auto behind = (reinterpret_cast<std::uintptr_t>(out) - reinterpret_cast<std::uintptr_t>(in)) & 4095;
  if (behind - 1 < 63 && bytes >= 1024) return copy_by_lines(out, in, bytes);
  std::memcpy(out, in, static_cast<std::size_t>(bytes));
}

/// A row that is copied without a call.
inline constexpr std::int64_t short_row_bytes = 32;

/// Copies a row of `Bytes` to twice as many: both of its ends, which may overlap.
template <int Bytes>
ONTO_INLINE void copy_ends(char* out, const char* in, std::int64_t bytes) {
  char first[Bytes], last[Bytes];
  std::memcpy(first, in, Bytes);
  std::memcpy(last, in + bytes - Bytes, Bytes);
  std::memcpy(out, first, Bytes);
  std::memcpy(out + bytes - Bytes, last, Bytes);
}

/// Copies rows of `columns` bytes that lie apart.
ONTO_NOINLINE inline void copy_rows(char* out, std::int64_t out_row, const char* in, std::int64_t in_row,
                                    std::int64_t rows, std::int64_t columns) {
  if (columns <= 0) return;
  const auto bytes = static_cast<std::size_t>(columns);
  if (in_row == 0 && out_row == columns && rows > 1) {  // one row, repeated: doubled until it is all
    std::memcpy(out, in, bytes);
    std::int64_t done = 1;
    while (done < rows) {
      const std::int64_t more = done < rows - done ? done : rows - done;
      std::memcpy(out + done * columns, out, static_cast<std::size_t>(more) * bytes);
      done += more;
    }
    return;
  }
  if (columns > short_row_bytes) {
    for (std::int64_t i = 0; i < rows; ++i) copy_row(out + i * out_row, in + i * in_row, columns);
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i, out += out_row, in += in_row)
    if (columns >= 16)
      copy_ends<16>(out, in, columns);
    else if (columns >= 8)
      copy_ends<8>(out, in, columns);
    else if (columns >= 4)
      copy_ends<4>(out, in, columns);
    else {
      const char first = in[0], middle = in[columns / 2], last = in[columns - 1];
      out[0] = first;
      out[columns / 2] = middle;
      out[columns - 1] = last;
    }
}

/// out[j] = in[j * step].
template <int Size>
ONTO_NOINLINE void copy_strided(word<Size>* out, const word<Size>* in, std::int64_t step, std::int64_t n) {
  std::int64_t j = step == 2 ? copy_every_other<Size>(out, in, n) : 0;
  for (; j + 8 <= n; j += 8) {  // all reads before the writes, which the compiler cannot tell apart
    const word<Size>* const from = in + j * step;
    const word<Size> a = from[0], b = from[step], c = from[2 * step], d = from[3 * step], e = from[4 * step],
                     f = from[5 * step], g = from[6 * step], h = from[7 * step];
    word<Size>* const to = out + j;
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
    to[4] = e;
    to[5] = f;
    to[6] = g;
    to[7] = h;
  }
  for (; j < n; ++j) out[j] = in[j * step];
}

/// Rows of fewer columns are filled by fours, which takes less than a loop that knows their end.
inline constexpr std::int64_t few_columns = 16;

/// out(i, j) = in(i, j) for two matrices of any strides; by tiles, so that a transposed one is read and written by
/// whole cache lines, and few pages are in use at a time.
template <int Size>
ONTO_NOINLINE void copy_tiles(word<Size>* out, std::int64_t out_row, std::int64_t out_column, const word<Size>* in,
                              std::int64_t in_row, std::int64_t in_column, std::int64_t rows, std::int64_t columns) {
  if constexpr (Size < 4)
    if (out_column == 1 && in_column == -1) {  // backwards, by words of 8 bytes
      constexpr std::int64_t some = 8 / Size;
      for (std::int64_t i = 0; i < rows; ++i, out += out_row, in += in_row) {
        std::int64_t j = 0;
        for (; j + some <= columns; j += some) {
          std::uint64_t w;
          std::memcpy(&w, in - j - (some - 1), 8);
          w = __builtin_bswap64(w);
          if (Size == 2) w = (w & 0x00ff00ff00ff00ff) << 8 | (w >> 8 & 0x00ff00ff00ff00ff);
          std::memcpy(out + j, &w, 8);
        }
        for (; j < columns; ++j) out[j] = in[-j];
      }
      return;
    }
  constexpr std::int64_t tile_rows = 64, tile_columns = 16;
  std::int64_t filled = 0;  // rows
  if (in_column == 0 && out_column == 1 && out_row == columns && columns > 1 && columns < few_columns)
    for (; filled + 3 < rows; ++filled) {  // what is written behind a row is of the next ones, which follow
      const word<Size> value = in[filled * in_row];
      for (std::int64_t j = 0; j < columns; j += 4) {
        word<Size>* const to = out + filled * columns + j;
        to[0] = value;
        to[1] = value;
        to[2] = value;
        to[3] = value;
      }
    }
  for (std::int64_t i0 = filled; i0 < rows; i0 += tile_rows) {
    const std::int64_t i1 = i0 + tile_rows < rows ? i0 + tile_rows : rows;
    if (columns < 4) {
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = i0; i < i1; ++i) out[i * out_row + j * out_column] = in[i * in_row + j * in_column];
      continue;
    }
    for (std::int64_t j0 = 0; j0 < columns; j0 += tile_columns) {
      const std::int64_t j1 = j0 + tile_columns < columns ? j0 + tile_columns : columns;
      for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t j = j0; j < j1; ++j) out[i * out_row + j * out_column] = in[i * in_row + j * in_column];
    }
  }
}

/// The same for words that vectors shuffle.
template <int Size>
ONTO_NOINLINE void copy_matrix(word<Size>* out, std::int64_t out_row, std::int64_t out_column, const word<Size>* in,
                               std::int64_t in_row, std::int64_t in_column, std::int64_t rows, std::int64_t columns) {
  const bool fills = in_column == 0 && columns < few_columns;  // copy_tiles does
  if (out_column == 1 && (rows == 1 || in_row != 1) && !fills) {
    for (std::int64_t i = 0; i < rows; ++i) copy_strided<Size>(out + i * out_row, in + i * in_row, in_column, columns);
    return;
  }
  const std::int64_t side =
      out_column == 1 && in_row == 1 && !fills ? transpose_tiles<Size>(out, out_row, in, in_column, rows, columns) : 0;
  // What the tiles left out: the last columns of all rows, and the last rows of the other columns.
  const std::int64_t row0 = side > 0 ? rows / side * side : 0, column0 = side > 0 ? columns / side * side : 0;
  copy_tiles<Size>(out + column0 * out_column, out_row, out_column, in + column0 * in_column, in_row, in_column, rows,
                   columns - column0);
  copy_tiles<Size>(out + row0 * out_row, out_row, out_column, in + row0 * in_row, in_row, in_column, rows - row0,
                   column0);
}

/// Sizes of elements, as a set: the sum of 1, 2, 4 and 8.
inline constexpr int all_sizes = 15;
/// Of the elements that are computed as `T`: of floats, half and bfloat16 too.
template <class T>
inline constexpr int computed_sizes = sizeof(T) == 4 ? 2 + 4 : static_cast<int>(sizeof(T));

/// out(i, j) = in(i, j) for matrices of elements of `size` bytes, which is one of `Sizes`. Of any strides, or, where
/// there are no `Views`, of what broadcasting makes: the columns of `out` lie next to each other, and those of `in` do
/// or are one. A program holds the copies of its own elements only: they take longer to compile than what calls them.
template <int Sizes, bool Views>
struct copies {
  static constexpr bool of_views = Views;

  ONTO_NOINLINE static void run(int size, void* out, std::int64_t out_row, std::int64_t out_column, const void* in,
                                std::int64_t in_row, std::int64_t in_column, std::int64_t rows, std::int64_t columns) {
    if (out_column == 1 && in_column == 1)
      return copy_rows(static_cast<char*>(out), out_row * size, static_cast<const char*>(in), in_row * size, rows,
                       columns * size);
    if (out_column == 1 && in_column == 0 && rows == 1)  // one element, repeated
      return copy_rows(static_cast<char*>(out), size, static_cast<const char*>(in), 0, columns, size);
    const auto copy = [&](auto of) {
      constexpr int n = decltype(of)::value;
      if constexpr ((Sizes & n) != 0) {
        if (size != n) return;
        auto* const to = static_cast<word<n>*>(out);
        const auto* const from = static_cast<const word<n>*>(in);
        if constexpr (Views && n >= 4)
          copy_matrix<n>(to, out_row, out_column, from, in_row, in_column, rows, columns);
        else
          copy_tiles<n>(to, out_row, out_column, from, in_row, in_column, rows, columns);
      }
    };
    copy(std::integral_constant<int, 4>{});
    copy(std::integral_constant<int, 8>{});
    copy(std::integral_constant<int, 2>{});
    copy(std::integral_constant<int, 1>{});
  }
};

#if defined(ONTO_COMPILED)
extern template struct copies<all_sizes, true>;
#endif

using copy_function = void (*)(int size, void* out, std::int64_t out_row, std::int64_t out_column, const void* in,
                               std::int64_t in_row, std::int64_t in_column, std::int64_t rows, std::int64_t columns);

/// The same for any elements, of any strides.
ONTO_RUNTIME void copy_elements(int size, void* out, std::int64_t out_row, std::int64_t out_column, const void* in,
                                std::int64_t in_row, std::int64_t in_column, std::int64_t rows, std::int64_t columns);
#if ONTO_DEFINITIONS
ONTO_RUNTIME void copy_elements(int size, void* out, std::int64_t out_row, std::int64_t out_column, const void* in,
                                std::int64_t in_row, std::int64_t in_column, std::int64_t rows, std::int64_t columns) {
  copies<all_sizes, true>::run(size, out, out_row, out_column, in, in_row, in_column, rows, columns);
}
#endif

/// Copies few elements, of at most two dimensions, by `copy`, whose strides need no thought. *Returns* false, having
/// done nothing, where it is for others.
ONTO_INLINE bool copy_few(const extents& space, int size, void* out, const std::int64_t* out_stride, const void* in,
                          const std::int64_t* in_stride, copy_function copy) {
  if (space.rank > 2 || space.size() > 64) return false;
  const int row = space.rank - 2, column = space.rank - 1;
  copy(size, out, row < 0 ? 0 : out_stride[row], column < 0 ? 1 : out_stride[column], in, row < 0 ? 0 : in_stride[row],
       column < 0 ? 1 : in_stride[column], row < 0 ? 1 : space.dims[row], column < 0 ? 1 : space.dims[column]);
  return true;
}

/// The elements of a view whose inner dimensions are short: those of `most` at most are a block, of which is known how
/// far each element is from the first. A call for each row takes longer than they do.
struct short_blocks {
  static constexpr std::int64_t most = 64;
  const layout& l;
  int outer;  // dimensions that are not in the block
  std::int64_t size = 1;
  std::int64_t at[most];

  ONTO_INLINE explicit short_blocks(const layout& of) : l(of), outer(of.rank) {
    at[0] = 0;
    while (outer > 1 && size * l.extent[outer - 1] <= most) {
      --outer;
      for (std::int64_t i = 1; i < l.extent[outer]; ++i)
        for (std::int64_t j = 0; j < size; ++j) at[i * size + j] = at[j] + i * l.stride[0][outer];
      size *= l.extent[outer];
    }
  }

  template <class Word>
  ONTO_INLINE void gather(const void* source, std::int64_t first, std::int64_t count, void* target) const {
    const auto* const in = static_cast<const Word*>(source);
    auto* out = static_cast<Word*>(target);
    std::int64_t number = first / size, from = first % size;
    for (std::int64_t n = 0; count > 0; out += n, count -= n, from = 0) {
      const Word* const block = in + offset_of(outer, l.extent, l.stride[0], number);
      if (from > 0 || count < size || outer == 0) {  // a part of one
        n = size - from < count ? size - from : count;
        for (std::int64_t j = 0; j < n; ++j) out[j] = block[at[from + j]];
        ++number;
        continue;
      }
      // Whole blocks that lie a stride apart, one element after the other of all.
      const std::int64_t along = l.extent[outer - 1], stride = l.stride[0][outer - 1], left = along - number % along;
      const std::int64_t blocks = count / size < left ? count / size : left;
      for (std::int64_t j = 0; j < size; ++j) {
        const Word* const element = block + at[j];
        for (std::int64_t k = 0; k < blocks; ++k) out[k * size + j] = element[k * stride];
      }
      number += blocks;
      n = blocks * size;
    }
  }
};

/// Elements `[first, first + count)` of a view, in row-major order, to `target`, by `copy`: as many rows at once as lie
/// a stride apart, and parts of rows before and after them.
ONTO_NOINLINE inline void gather(const layout& l, int size, const void* source, std::int64_t first, std::int64_t count,
                                 void* target, copy_function copy = copy_elements) {
  char* out = static_cast<char*>(target);
  const int inner = l.rank - 1, row = inner > 0 ? inner - 1 : 0;
  const std::int64_t n = l.extent[inner];
  if (inner > 1 && n * l.extent[row] <= short_blocks::most) {
    const short_blocks blocks(l);
    if (size == 4) return blocks.gather<word<4>>(source, first, count, target);
    if (size == 8) return blocks.gather<word<8>>(source, first, count, target);
    if (size == 1) return blocks.gather<word<1>>(source, first, count, target);
    if (size == 2) return blocks.gather<word<2>>(source, first, count, target);
  }
  while (count > 0) {
    const std::int64_t column = first % n, offset = offset_of(l.rank, l.extent, l.stride[0], first);
    std::int64_t rows = 1, columns = n - column < count ? n - column : count;
    if (columns == n && inner > 0) {
      rows = l.extent[row] - first / n % l.extent[row];
      if (rows > count / n) rows = count / n;
    }
    copy(size, out, columns, 1, static_cast<const char*>(source) + offset * size, l.stride[0][row], l.stride[0][inner],
         rows, columns);
    out += rows * columns * size;
    first += rows * columns;
    count -= rows * columns;
  }
}

}  // namespace onto::detail
