// SPDX-License-Identifier: BSL-1.0
// Matrix products of a few multiplications: nothing is packed or shared out, and sums stay in registers. What a call
// costs beside its arithmetic is what there is to save.
#pragma once

#include <onto/backend/cpu/gemm_operands.hpp>
#include <onto/backend/cpu/gemm_tile.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>

namespace onto::detail {

/// Products of at most so many multiplications are tiny.
inline constexpr std::int64_t tiny_product = 512;

/// And the sums of fewer are made in the order of k.
inline constexpr std::int64_t long_run = 16;

/// Whether a product is of runs of a's rows and runs of b's columns.
template <class T>
ONTO_INLINE bool multiplies_runs(std::int64_t n, const matrix_view<T>& a, const matrix_view<T>& b) {
  return (n == 1 || b.column != 1) && a.column == 1 && b.row == 1;
}

/// The sum of two runs' products, many sums beside each other.
template <class T>
ONTO_INLINE T sum_of_products(const T* x, const T* y, std::int64_t k) {
  using lanes = lanes_of<T, 16>;
  constexpr int width = lanes::width, four = 4 * width;
  T sum = 0;
  std::int64_t p = 0;
  if (k >= long_run) {
    typename lanes::type part0{}, part1{}, part2{}, part3{}, u, v;  // an array would be in memory
    const auto add = [&](typename lanes::type& to, std::int64_t at) {
      lanes::load(u, x + at);
      lanes::load(v, y + at);
      to += u * v;
    };
    for (; p + four <= k; p += four) {
      add(part0, p);
      add(part1, p + width);
      add(part2, p + 2 * width);
      add(part3, p + 3 * width);
    }
    for (; p + width <= k; p += width) add(part0, p);
    part0 += part1;
    part2 += part3;
    part0 += part2;
    for (int l = 0; l < width; ++l) sum += part0[l];
  }
  for (; p < k; ++p) sum += x[p] * y[p];
  return sum;
}

/// The same of four pairs of short runs, side by side.
template <class T>
struct four_sums {
  T a = 0, b = 0, c = 0, d = 0;

  ONTO_INLINE four_sums(const T* x, std::int64_t x_apart, const T* y, std::int64_t y_apart, std::int64_t k) {
    const T *const x1 = x + x_apart, *const x2 = x1 + x_apart, *const x3 = x2 + x_apart;
    const T *const y1 = y + y_apart, *const y2 = y1 + y_apart, *const y3 = y2 + y_apart;
    for (std::int64_t p = 0; p < k; ++p) {
      a += x[p] * y[p];
      b += x1[p] * y1[p];
      c += x2[p] * y2[p];
      d += x3[p] * y3[p];
    }
  }
};

/// Writes result (i, j), whose products have this sum.
template <class T>
ONTO_INLINE void put_tiny(const gemm_target<T>& to, std::int64_t i, std::int64_t j, T sum) {
  sum *= to.alpha;
  if (to.addend.data != nullptr) sum += to.beta * to.addend.data[i * to.addend.row + j * to.addend.column];
  to.data[i * to.row + j] = to.relu ? relu_of(sum) : sum;
}
template <class T>
ONTO_INLINE void put_tiny(const gemm_target<T>& to, std::int64_t i, std::int64_t j, int down, int right,
                          const four_sums<T>& s) {
  put_tiny(to, i, j, s.a);
  put_tiny(to, i + down, j + right, s.b);
  put_tiny(to, i + 2 * down, j + 2 * right, s.c);
  put_tiny(to, i + 3 * down, j + 3 * right, s.d);
}

/// A line of results and what it is made of: runs that lie `apart`, each times a number of those that lie `step` apart.
template <class T>
struct tiny_line {
  T* to;
  const T* addend;  // or null
  std::int64_t addend_step;
  const T* runs;
  std::int64_t apart;
  const T* numbers;
  std::int64_t step;
};

/// Makes `Count` vectors of a line from place `j` on.
template <int Count, class T>
ONTO_INLINE void make_tiny_tile(const gemm_target<T>& to, const tiny_line<T>& l, std::int64_t k, std::int64_t j) {
  using lanes = lanes_of<T, 16>;
  typename lanes::type sum[Count] = {}, run;
  const T *from = l.runs + j, *number = l.numbers;
  for (std::int64_t p = 0; p < k; ++p, from += l.apart, number += l.step) {
    const T x = *number;
    for (int c = 0; c < Count; ++c) {
      lanes::load(run, from + c * lanes::width);
      sum[c] += x * run;
    }
  }
  for (int c = 0; c < Count; ++c) sum[c] = to.alpha * sum[c];
  if (l.addend != nullptr && l.addend_step == 1) {
    for (int c = 0; c < Count; ++c) {
      lanes::load(run, l.addend + j + c * lanes::width);
      sum[c] += to.beta * run;
    }
  } else if (l.addend != nullptr) {
    for (int e = 0; e < Count * lanes::width; ++e)
      sum[e / lanes::width][e % lanes::width] += to.beta * l.addend[(j + e) * l.addend_step];
  }
  std::memcpy(static_cast<void*>(l.to + j), sum, sizeof sum);
  if (!to.relu) return;
  for (int e = 0; e < Count * lanes::width; ++e) l.to[j + e] = relu_of(l.to[j + e]);
}

/// Makes whole vectors of a line of `count` results. *Returns* how many results these are.
template <class T>
ONTO_INLINE std::int64_t make_tiny_line(const gemm_target<T>& to, const tiny_line<T>& l, std::int64_t count,
                                        std::int64_t k) {
  constexpr std::int64_t width = lanes_of<T, 16>::width;
  std::int64_t j = 0;
  for (; j + 2 * width <= count; j += 2 * width) make_tiny_tile<2>(to, l, k, j);
  for (; j + width <= count; j += width) make_tiny_tile<1>(to, l, k, j);
  return j;
}

/// Makes `N` results of each row, fewer than a vector holds.
template <int N, class T>
ONTO_INLINE void make_narrow(std::int64_t m, std::int64_t k, const matrix_view<T>& a, const matrix_view<T>& b,
                             const gemm_target<T>& to) {
  for (std::int64_t i = 0; i < m; ++i) {
    const T *x = a.data + i * a.row, *y = b.data;
    T sum[N]{};
    for (std::int64_t p = 0; p < k; ++p, x += a.column, y += b.row)
      for (int j = 0; j < N; ++j) sum[j] += *x * y[j * b.column];
    for (int j = 0; j < N; ++j) put_tiny(to, i, j, sum[j]);
  }
}

/// to = relu(alpha * a(m, k) × b(k, n) + beta * addend), each sum in the order of k but that of two long runs.
template <class T>
void gemm_tiny(std::int64_t m, std::int64_t n, std::int64_t k, const matrix_view<T>& a, const matrix_view<T>& b,
               const gemm_target<T>& to) {
  if (k < long_run) {
    if (n == 2) return make_narrow<2>(m, k, a, b, to);
    if (n == 3) return make_narrow<3>(m, k, a, b, to);
  }
  const matrix_view<T>& more = to.addend;
  const bool runs = multiplies_runs(n, a, b), column = !runs && n == 1 && a.row == 1 && to.row == 1;
  // A column is a line, too, of a's columns.
  std::int64_t i =
      column ? make_tiny_line<T>(to, {to.data, more.data, more.row, a.data, a.column, b.data, b.row}, m, k) : 0;
  const bool short_runs = runs && k < long_run;
  for (; short_runs && n == 1 && i + 4 <= m; i += 4)
    put_tiny(to, i, 0, 1, 0, four_sums<T>(a.data + i * a.row, a.row, b.data, 0, k));
  tiny_line<T> l{nullptr, nullptr, more.column, b.data, b.row, nullptr, a.column};
  for (; i < m; ++i) {
    const T* const x = a.data + i * a.row;
    std::int64_t j = 0;
    if (short_runs) {
      for (; j + 4 <= n; j += 4) put_tiny(to, i, j, 0, 1, four_sums<T>(x, 0, b.data + j * b.column, b.column, k));
    } else if (!runs && !column && b.column == 1) {
      l.to = to.data + i * to.row;
      l.addend = more.data == nullptr ? nullptr : more.data + i * more.row;
      l.numbers = x;
      j = make_tiny_line(to, l, n, k);
    }
    for (; j < n; ++j) {
      const T* const y = b.data + j * b.column;
      T sum = 0;
      if (runs)
        sum = sum_of_products(x, y, k);
      else
        for (std::int64_t p = 0; p < k; ++p) sum += x[p * a.column] * y[p * b.row];
      put_tiny(to, i, j, sum);
    }
  }
}

}  // namespace onto::detail
