// SPDX-License-Identifier: BSL-1.0
// Images as matrices (im2col): a row for each window, a column for each element of it. The built-in matrix product
// packs them block by block; nothing holds all of them.
#pragma once

#include <onto/backend/cpu/gemm.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>

namespace onto::detail {

/// Windows of images (batch, height, width, channels), along both axes.
struct window_grid {
  std::int64_t image[2];   // elements of the image
  std::int64_t count[2];   // windows
  std::int64_t window[2];  // elements of a window
  std::int64_t stride[2];  // from window to window
  std::int64_t first[2];   // where the first window begins: below 0, in the padding
  std::int64_t step[2];    // from element to element in a window
  std::int64_t channels;   // of the image
  std::int64_t taken;      // of these, so many next to each other are elements of the window
};

/// The matrix of windows: element (r, c) is element c of window r, zero outside the image. `Transposed`: element (c,
/// r).
template <class T, bool Transposed>
struct patches {
  const window_grid* grid;
  const T* data;  // the first channel that is taken
  std::int64_t row = 0, column = 0;
};

template <class T, bool Transposed>
patches<T, Transposed> part_of(const patches<T, Transposed>& p, std::int64_t row, std::int64_t column) {
  return {p.grid, p.data, p.row + row, p.column + column};
}
template <class T, bool Transposed>
constexpr bool stands(const patches<T, Transposed>&, std::int64_t, std::int64_t, std::int64_t) {
  return false;
}

/// Runs are short: a call of memcpy would take longer than they do.
template <class T>
ONTO_INLINE void copy_run(T* to, const T* from, std::int64_t n) {
  constexpr std::int64_t some = 16 / sizeof(T), longest = 1024 / sizeof(T);
  if (n > longest) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
  } else if (n >= some) {
    for (std::int64_t k = 0; k + some < n; k += some) std::memcpy(to + k, from + k, 16);
    std::memcpy(to + n - some, from + n - some, 16);
  } else {
    for (std::int64_t k = 0; k < n; ++k) to[k] = from[k];
  }
}
template <class T>
ONTO_INLINE void clear_run(T* to, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] = 0;
}

/// Elements `[first, first + count)` of a window's row: so many columns of it times the channels taken, from `place` of
/// the image's row `line`.
template <class T>
ONTO_INLINE void copy_row_of_window(const window_grid& g, const T* line, std::int64_t place, std::int64_t first,
                                    std::int64_t count, T* to) {
  const std::int64_t taken = g.taken, step = g.step[1], width = g.image[1];
  if (step == 1 && taken == g.channels) {  // one run, of which the ends may be outside
    std::int64_t lo = -place * taken - first, hi = (width - place) * taken - first;
    lo = lo < 0 ? 0 : lo > count ? count : lo;
    hi = hi < lo ? lo : hi > count ? count : hi;
    if (lo > 0) clear_run(to, lo);
    if (hi > lo) copy_run(to + lo, line + place * taken + first + lo, hi - lo);
    if (hi < count) clear_run(to + hi, count - hi);
    return;
  }
  std::int64_t k = first / taken, within = first % taken;
  for (; count > 0; ++k, within = 0) {
    const std::int64_t n = taken - within < count ? taken - within : count, x = place + k * step;
    if (x >= 0 && x < width)
      copy_run(to, line + x * g.channels + within, n);
    else
      clear_run(to, n);
    to += n;
    count -= n;
  }
}

/// Columns `[column, column + columns)` of windows `[row, row + rows)`, each `apart` from the last.
template <class T>
ONTO_NOINLINE void copy_patches(const window_grid& g, const T* data, std::int64_t row, std::int64_t rows,
                                std::int64_t column, std::int64_t columns, T* to, std::int64_t apart) {
  const std::int64_t in_row = g.window[1] * g.taken, first_line = in_row > 0 ? column / in_row : 0,
                     first_in = column - first_line * in_row;
  std::int64_t x = row % g.count[1], y = row / g.count[1] % g.count[0];
  const T* image = data + row / g.count[1] / g.count[0] * g.image[0] * g.image[1] * g.channels;
  for (; rows > 0; --rows, to += apart) {
    const std::int64_t place = g.first[1] + x * g.stride[1];
    std::int64_t line = g.first[0] + y * g.stride[0] + first_line * g.step[0], first = first_in, left = columns;
    for (T* out = to; left > 0; line += g.step[0], first = 0) {
      const std::int64_t n = in_row - first < left ? in_row - first : left;
      if (line >= 0 && line < g.image[0])
        copy_row_of_window(g, image + line * g.image[1] * g.channels, place, first, n, out);
      else
        clear_run(out, n);
      out += n;
      left -= n;
    }
    if (++x < g.count[1]) continue;
    x = 0;
    if (++y < g.count[0]) continue;
    y = 0;
    image += g.image[0] * g.image[1] * g.channels;
  }
}

/// Packs windows as rows far enough from a power of two apart; transposed, as columns. What the last tile lacks in rows
/// is zeros.
template <class T, bool Transposed>
void pack_block(const tile_heights& heights, const patches<T, Transposed>& a, std::int64_t rows, std::int64_t depth,
                bool, T* buffer, gemm_panel<T>& s) {
  s.rows = rows;
  s.depth = depth;
  int height = 0;
  const std::int64_t last = heights.tail(rows, height), padded = last == 0 ? rows : rows - last + height;
  const std::int64_t apart = (Transposed ? padded : depth) / 16 * 16 + 16;
  if constexpr (Transposed) {
    copy_patches(*a.grid, a.data, a.column, depth, a.row, rows, buffer, apart);
    for (std::int64_t p = 0; p < depth; ++p) clear_run(buffer + p * apart + rows, padded - rows);
    s.a = {buffer, 1, apart};
  } else {
    copy_patches(*a.grid, a.data, a.row, rows, a.column, depth, buffer, apart);
    for (std::int64_t r = rows; r < padded; ++r) clear_run(buffer + r * apart, depth);
    s.a = {buffer, apart, 1};
  }
  s.tail = s.a;
  s.tail.data += (rows - last) * s.a.row;
}

}  // namespace onto::detail
