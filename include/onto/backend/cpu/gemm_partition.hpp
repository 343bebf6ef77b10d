// SPDX-License-Identifier: BSL-1.0
// A matrix product partitioned among threads: each computes a part of the result by itself.
#pragma once

#include <onto/backend/cpu/gemm_operands.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <limits>

namespace onto::detail {

/// A result cut into parts, of so many rows and columns each but the last.
struct gemm_partition {
  std::int64_t high, wide;
  std::int64_t across;  // parts beside each other
  std::int64_t count;
};

/// What it costs to bring operands to where they are multiplied: b's columns in rows that could be multiplied instead,
/// a's rows in columns.
struct gemm_partition_costs {
  std::int64_t rows, columns;
};

/// Parts for as many threads: the largest of them costs least. Complexity: linear in `threads`.
ONTO_NOINLINE inline gemm_partition partition_gemm(std::int64_t m, std::int64_t n, std::int64_t threads,
                                                   gemm_partition_costs costs) {
  const auto share = [](std::int64_t count, std::int64_t parts, std::int64_t unit) {
    return ((count + parts - 1) / parts + unit - 1) / unit * unit;
  };
  gemm_partition best{m, n, 1, 1};
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t down = 1; down <= threads; ++down) {
    const std::int64_t high = share(m, down, 4), wide = share(n, threads / down, 16);
    const std::int64_t cost = (high + costs.rows) * (wide + costs.columns);
    if (cost >= least) continue;
    least = cost;
    const std::int64_t across = (n + wide - 1) / wide;
    best = {high, wide, across, (m + high - 1) / high * across};
  }
  return best;
}

/// Calls `multiply(m, n, k, a, b, to)` for parts of a product, on at most `threads` threads of a pool.
template <class T, class Left, class Multiply>
void run_partitioned(thread_pool& pool, std::int64_t threads, std::int64_t m, std::int64_t n, std::int64_t k,
                     const Left& a, const matrix_view<T>& b, const gemm_target<T>& to, gemm_partition_costs costs,
                     const Multiply& multiply) {
  const gemm_partition parts = partition_gemm(m, n, threads, costs);
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    if (hi - lo == parts.count) return multiply(m, n, k, a, b, to);  // no other thread
    for (; lo < hi; ++lo) {
      const std::int64_t i = lo / parts.across * parts.high, j = lo % parts.across * parts.wide;
      const std::int64_t rows = m - i < parts.high ? m - i : parts.high,
                         columns = n - j < parts.wide ? n - j : parts.wide;
      gemm_target<T> part = to;
      part.data += i * to.row + j;
      if (to.addend.data != nullptr) part.addend.data += i * to.addend.row + j * to.addend.column;
      multiply(rows, columns, k, part_of(a, i, 0), part_of(b, 0, j), part);
    }
  };
  split(pool, parts.count, 1, body);
}

}  // namespace onto::detail
