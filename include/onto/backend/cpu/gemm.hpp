// SPDX-License-Identifier: BSL-1.0
// The built-in matrix product, for where no CBLAS is linked and for integers: panels packed for the caches, and a tile
// of the result kept in registers, compiled for several instruction sets of which the machine's best is taken at run
// time.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <utility>

namespace onto::detail {

/// A matrix in memory, by the distances of its rows and of its columns.
template <class T>
struct matrix_view {
  const T* data;
  std::int64_t row;
  std::int64_t column;
};

// A run of T as long as a register: GNU C++, which g++, clang and nvcc know without a header.
template <class T, int Bytes>
struct lanes_of {
  typedef T type __attribute__((vector_size(Bytes)));
};

template <class T, class Lanes>
ONTO_INLINE void add_lanes(T* to, T alpha, const Lanes& product) {
  Lanes c;
  std::memcpy(&c, to, sizeof c);
  c += alpha * product;
  std::memcpy(to, &c, sizeof c);
}

/// c(mr, nr) += alpha * a(mr, depth) × b(depth, nr), with a packed in columns of sizeof...(R) and b in rows of two
/// registers.
template <class T, int Bytes, int... R>
ONTO_INLINE void multiply_tile(std::int64_t depth, const T* a, const T* b, T alpha, T* c, std::int64_t c_row,
                               std::int64_t mr, std::int64_t nr, std::integer_sequence<int, R...>) {
  using lanes = typename lanes_of<T, Bytes>::type;
  constexpr int rows = sizeof...(R), width = Bytes / static_cast<int>(sizeof(T));
  lanes left[rows] = {}, right[rows] = {};
  for (std::int64_t p = 0; p < depth; ++p, a += rows, b += 2 * width) {
    lanes b0, b1;
    std::memcpy(&b0, b, sizeof b0);
    std::memcpy(&b1, b + width, sizeof b1);
    ((left[R] += a[R] * b0, right[R] += a[R] * b1), ...);
  }
  if (mr == rows && nr == 2 * width) {
    (add_lanes(c + R * c_row, alpha, left[R]), ...);
    (add_lanes(c + R * c_row + width, alpha, right[R]), ...);
    return;
  }
  T tile[rows][2 * width];
  ((std::memcpy(tile[R], &left[R], sizeof(lanes)), std::memcpy(tile[R] + width, &right[R], sizeof(lanes))), ...);
  for (std::int64_t r = 0; r < mr; ++r)
    for (std::int64_t j = 0; j < nr; ++j) c[r * c_row + j] += alpha * tile[r][j];
}

template <class T>
using tile_function = void (*)(std::int64_t depth, const T* a, const T* b, T alpha, T* c, std::int64_t c_row,
                               std::int64_t mr, std::int64_t nr);

template <class T>
void multiply_tile_128(std::int64_t depth, const T* a, const T* b, T alpha, T* c, std::int64_t c_row, std::int64_t mr,
                       std::int64_t nr) {
  multiply_tile<T, 16>(depth, a, b, alpha, c, c_row, mr, nr, std::make_integer_sequence<int, 4>{});
}
#if defined(__x86_64__) && defined(__GNUC__)
template <class T>
__attribute__((target("avx2,fma"))) void multiply_tile_256(std::int64_t depth, const T* a, const T* b, T alpha, T* c,
                                                           std::int64_t c_row, std::int64_t mr, std::int64_t nr) {
  multiply_tile<T, 32>(depth, a, b, alpha, c, c_row, mr, nr, std::make_integer_sequence<int, 6>{});
}
template <class T>
__attribute__((target("avx512f,avx512dq"))) void multiply_tile_512(std::int64_t depth, const T* a, const T* b, T alpha,
                                                                   T* c, std::int64_t c_row, std::int64_t mr,
                                                                   std::int64_t nr) {
  multiply_tile<T, 64>(depth, a, b, alpha, c, c_row, mr, nr, std::make_integer_sequence<int, 12>{});
}
#endif

/// A tile of the result: its extents, and the function that multiplies into it.
template <class T>
struct gemm_tile {
  std::int64_t rows;
  std::int64_t columns;
  tile_function<T> multiply;
};

template <class T>
gemm_tile<T> best_tile() {
  constexpr auto columns = [](int bytes) { return 2 * bytes / static_cast<int>(sizeof(T)); };
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return {12, columns(64), &multiply_tile_512<T>};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {6, columns(32), &multiply_tile_256<T>};
#endif
  return {4, columns(16), &multiply_tile_128<T>};
}

/// Packs `length` × `depth` elements as panels of `width` of the first, filled up with zeros: `panel[p][i]`.
template <class T>
void pack_panels(const T* in, std::int64_t along, std::int64_t down, std::int64_t length, std::int64_t depth,
                 std::int64_t width, T* out) {
  for (std::int64_t i = 0; i < length; i += width) {
    const std::int64_t some = length - i < width ? length - i : width;
    const T* from = in + i * along;
    for (std::int64_t p = 0; p < depth; ++p, from += down, out += width) {
      if (along == 1)
        for (std::int64_t j = 0; j < some; ++j) out[j] = from[j];
      else
        for (std::int64_t j = 0; j < some; ++j) out[j] = from[j * along];
      for (std::int64_t j = some; j < width; ++j) out[j] = 0;
    }
  }
}

/// c(m, n) += alpha * a(m, k) × b(k, n), c contiguous; for products too small, or operands too thin, to be worth
/// packing.
template <class T>
void gemm_unpacked(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, matrix_view<T> a, matrix_view<T> b, T* c,
                   std::int64_t c_row) {
  if ((n == 1 || b.column != 1) && a.column == 1 && b.row == 1) {  // dot products of runs
    constexpr int width = 16;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const T *x = a.data + i * a.row, *y = b.data + j * b.column;
        T part[width] = {};
        std::int64_t p = 0;
        for (; p + width <= k; p += width)
          for (int l = 0; l < width; ++l) part[l] += x[p + l] * y[p + l];
        T sum = 0;
        for (; p < k; ++p) sum += x[p] * y[p];
        for (int l = 0; l < width; ++l) sum += part[l];
        c[i * c_row + j] += alpha * sum;
      }
    return;
  }
  for (std::int64_t i = 0; i < m; ++i) {
    T* const to = c + i * c_row;
    for (std::int64_t p = 0; p < k; ++p) {
      const T x = alpha * a.data[i * a.row + p * a.column];
      const T* const from = b.data + p * b.row;
      if (b.column == 1) {
        std::int64_t j = 0;
        for (; j + 16 <= n; j += 16) {
#if !defined(__clang__)
#pragma GCC ivdep
#endif
          for (int l = 0; l < 16; ++l) to[j + l] += x * from[j + l];
        }
        for (; j < n; ++j) to[j] += x * from[j];
      } else {
        for (std::int64_t j = 0; j < n; ++j) to[j] += x * from[j * b.column];
      }
    }
  }
}

/// c(m, n) += alpha * a(m, k) × b(k, n), c contiguous.
template <class T>
void gemm(thread_pool& pool, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, matrix_view<T> a,
          matrix_view<T> b, T* c) {
  if (m * n * k <= 4096) return gemm_unpacked(m, n, k, alpha, a, b, c, n);
  if (m <= 2 || n <= 2) {
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      if (m >= n)
        gemm_unpacked(hi - lo, n, k, alpha, {a.data + lo * a.row, a.row, a.column}, b, c + lo * n, n);
      else
        gemm_unpacked(m, hi - lo, k, alpha, a, {b.data + lo * b.column, b.row, b.column}, c + lo, n);
    };
    return split(pool, m >= n ? m : n, (std::int64_t{64} << 10) / k + 1, body);
  }
  static const gemm_tile<T> tile = best_tile<T>();
  // A block of a (98 KB) stays in the second cache, a panel of b in the first, all of the packed b in the third.
  constexpr std::int64_t depth_block = 1024 / static_cast<std::int64_t>(sizeof(T)), row_block = 96, column_block = 2048;
  const auto padded = [](std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; };
  const std::int64_t deep = k < depth_block ? k : depth_block, wide = n < column_block ? n : column_block;
  small_array<T, 64> packed(deep * padded(wide, tile.columns));
  for (std::int64_t j0 = 0; j0 < n; j0 += column_block) {
    const std::int64_t nc = n - j0 < column_block ? n - j0 : column_block;
    const std::int64_t panels = (nc + tile.columns - 1) / tile.columns;
    for (std::int64_t p0 = 0; p0 < k; p0 += depth_block) {
      const std::int64_t kc = k - p0 < depth_block ? k - p0 : depth_block;
      auto pack = [&](std::int64_t lo, std::int64_t hi) {
        const std::int64_t first = lo * tile.columns, last = hi * tile.columns < nc ? hi * tile.columns : nc;
        pack_panels(b.data + p0 * b.row + (j0 + first) * b.column, b.column, b.row, last - first, kc, tile.columns,
                    packed.data() + first * kc);
      };
      split(pool, panels, (std::int64_t{32} << 10) / (kc * tile.columns) + 1, pack);

      // Blocks of rows go to threads; where they are few, the columns are shared out as well.
      const std::int64_t blocks = (m + row_block - 1) / row_block;
      std::int64_t groups = (2 * pool.size() + blocks - 1) / blocks;
      if (pool.size() == 1 || m * nc * kc < std::int64_t{1} << 19) groups = 1;
      if (groups > panels) groups = panels;
      auto multiply = [&](std::int64_t lo, std::int64_t hi) {
        small_array<T, 64> block(padded(m < row_block ? m : row_block, tile.rows) * kc);
        std::int64_t ready = -1;
        for (; lo < hi; ++lo) {
          const std::int64_t i0 = lo / groups * row_block, mc = m - i0 < row_block ? m - i0 : row_block;
          if (ready != i0)
            pack_panels(a.data + i0 * a.row + p0 * a.column, a.row, a.column, mc, kc, tile.rows, block.data());
          ready = i0;
          const std::int64_t end = panels * (lo % groups + 1) / groups;
          for (std::int64_t q = panels * (lo % groups) / groups; q < end; ++q) {
            const std::int64_t j = q * tile.columns, nr = nc - j < tile.columns ? nc - j : tile.columns;
            for (std::int64_t i = 0; i < mc; i += tile.rows)
              tile.multiply(kc, block.data() + i * kc, packed.data() + j * kc, alpha, c + (i0 + i) * n + j0 + j, n,
                            mc - i < tile.rows ? mc - i : tile.rows, nr);
          }
        }
      };
      const std::int64_t work = row_block * (nc / groups) * kc;
      split(pool, blocks * groups, (std::int64_t{1} << 18) / (work + 1) + 1, multiply);
    }
  }
}

}  // namespace onto::detail
