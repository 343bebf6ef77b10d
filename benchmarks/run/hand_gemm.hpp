// SPDX-License-Identifier: BSL-1.0
// The hand-written matrix product: panels of both operands packed for the caches, and a kernel whose tile of the result
// stays in registers.
#pragma once

#include "bench.hpp"
#include "hand_math.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace hand {

/// A matrix by its first element and its strides: transposing swaps them.
struct matrix {
  const float* data;
  std::int64_t row, col;
};

constexpr int tile_rows = width == 16 ? 12 : 6, tile_cols = 2 * width;
constexpr std::int64_t depth = 384, block_rows = 20 * tile_rows, block_cols = 3072;

/// tile += a (depth x tile_rows, packed) * b (depth x tile_cols, packed).
inline void kernel(std::int64_t k, const float* a, const float* b, float* c, std::int64_t stride, bool fresh) {
  vec tile[tile_rows][2] = {};
  for (std::int64_t i = 0; i < k; ++i) {
    const vec b0 = load(b), b1 = load(b + width);
#pragma GCC unroll 16
    for (int r = 0; r < tile_rows; ++r) {
      tile[r][0] += a[r] * b0;
      tile[r][1] += a[r] * b1;
    }
    a += tile_rows;
    b += tile_cols;
  }
#pragma GCC unroll 16
  for (int r = 0; r < tile_rows; ++r) {
    float* const out = c + r * stride;
    store(out, fresh ? tile[r][0] : load(out) + tile[r][0]);
    store(out + width, fresh ? tile[r][1] : load(out + width) + tile[r][1]);
  }
}

inline void pack(const float* from, std::int64_t line, std::int64_t step, std::int64_t lines, std::int64_t k, int tile,
                 float* to) {
  for (std::int64_t first = 0; first < lines; first += tile) {
    const std::int64_t there = std::min<std::int64_t>(tile, lines - first);
    if (there < tile) std::fill(to, to + tile * k, 0.0f);
    const float* p = from + first * line;
    if (line == 1) {
      for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t l = 0; l < there; ++l) to[i * tile + l] = p[l + i * step];
    } else {
      // Sixteen steps at a time, so that lines of the cache that are read are used up.
      for (std::int64_t i = 0; i < k; i += 16)
        for (std::int64_t l = 0; l < there; ++l)
          for (std::int64_t j = i; j < std::min(k, i + 16); ++j) to[j * tile + l] = p[l * line + j * step];
    }
    to += tile * k;
  }
}

/// What is done with a finished row of the result, [from, to) of its columns.
struct no_epilogue {
  void operator()(float*, std::int64_t, std::int64_t) const {}
};
struct bias_and_relu {
  const float* bias;
  void operator()(float* row, std::int64_t from, std::int64_t to) const {
#pragma omp simd
    for (std::int64_t j = from; j < to; ++j) {
      const float v = row[j] + bias[j];
      row[j] = v > 0 ? v : 0;
    }
  }
};
struct only_bias {
  const float* bias;
  void operator()(float* row, std::int64_t from, std::int64_t to) const {
#pragma omp simd
    for (std::int64_t j = from; j < to; ++j) row[j] += bias[j];
  }
};

/// c (m x n, row-major) = a (m x k) * b (k x n), or c += with `accumulate`.
template <class Epilogue = no_epilogue>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, matrix a, matrix b, float* c, int threads,
          bool accumulate = false, const Epilogue& epilogue = {}) {
  const std::int64_t packed_b = depth * (block_cols + tile_cols);
  float* const bs = bench::scratch(6, packed_b);
  float* const as = bench::scratch(7, threads * depth * block_rows);
  // All threads share a packed panel of b; each takes blocks of rows of a, small enough that every thread has some.
  const std::int64_t share = (m + threads - 1) / threads;
  const std::int64_t rows = std::min(block_rows, (share + tile_rows - 1) / tile_rows * tile_rows);
  if (m * n * k < 100 * 100 * 100) threads = 1;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    float* const mine = as + omp_get_thread_num() * depth * block_rows;
    for (std::int64_t j = 0; j < n; j += block_cols) {
      const std::int64_t nj = std::min(block_cols, n - j);
      for (std::int64_t l = 0; l < k; l += depth) {
        const std::int64_t kl = std::min(depth, k - l);
        const bool fresh = l == 0 && !accumulate, last = l + kl == k;
        const std::int64_t panels = (nj + tile_cols - 1) / tile_cols;
#pragma omp for schedule(static)
        for (std::int64_t t = 0; t < panels; ++t)
          pack(b.data + l * b.row + (j + t * tile_cols) * b.col, b.col, b.row,
               std::min<std::int64_t>(tile_cols, nj - t * tile_cols), kl, tile_cols, bs + t * tile_cols * kl);
#pragma omp for schedule(dynamic)
        for (std::int64_t i = 0; i < m; i += rows) {
          const std::int64_t mi = std::min(rows, m - i);
          pack(a.data + i * a.row + l * a.col, a.row, a.col, mi, kl, tile_rows, mine);
          for (std::int64_t t = 0; t < panels; ++t)
            for (std::int64_t r = 0; r < mi; r += tile_rows) {
              float* const out = c + (i + r) * n + j + t * tile_cols;
              const std::int64_t cols = std::min<std::int64_t>(tile_cols, nj - t * tile_cols);
              const std::int64_t high = std::min<std::int64_t>(tile_rows, mi - r);
              if (cols == tile_cols && high == tile_rows) {
                kernel(kl, mine + r * kl, bs + t * tile_cols * kl, out, n, fresh);
              } else {
                float edge[tile_rows * tile_cols];
                kernel(kl, mine + r * kl, bs + t * tile_cols * kl, edge, tile_cols, true);
                for (std::int64_t y = 0; y < high; ++y)
                  for (std::int64_t x = 0; x < cols; ++x)
                    out[y * n + x] = (fresh ? 0 : out[y * n + x]) + edge[y * tile_cols + x];
              }
            }
          if (last)
            for (std::int64_t y = i; y < i + mi; ++y) epilogue(c + y * n, j, j + nj);
        }
      }
    }
  }
}

}  // namespace hand
