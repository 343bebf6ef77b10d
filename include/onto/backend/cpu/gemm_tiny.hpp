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
  if (k >= four) {
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

/// Makes `Count` vectors of a line from place `j` on. a's elements, which are the runs or the numbers, take alpha.
template <int Count, bool RunsAreOfA, class T>
ONTO_INLINE void make_tiny_tile(const gemm_target<T>& to, const tiny_line<T>& l, std::int64_t k, std::int64_t j) {
  using lanes = lanes_of<T, 16>;
  typename lanes::type sum[Count] = {}, run;
  if (l.addend != nullptr && l.addend_step == 1) {
    for (int c = 0; c < Count; ++c) {
      lanes::load(run, l.addend + j + c * lanes::width);
      sum[c] = to.beta * run;
    }
  } else if (l.addend != nullptr) {
    T more[Count * lanes::width];
    for (int e = 0; e < Count * lanes::width; ++e) more[e] = to.beta * l.addend[(j + e) * l.addend_step];
    std::memcpy(sum, more, sizeof sum);
  }
  const T *from = l.runs + j, *number = l.numbers;
  for (std::int64_t p = 0; p < k; ++p, from += l.apart, number += l.step) {
    const T x = RunsAreOfA ? *number : to.alpha * *number;
    for (int c = 0; c < Count; ++c) {
      lanes::load(run, from + c * lanes::width);
      if constexpr (RunsAreOfA) run = to.alpha * run;
      sum[c] += x * run;
    }
  }
  std::memcpy(static_cast<void*>(l.to + j), sum, sizeof sum);
  if (!to.relu) return;
  for (int e = 0; e < Count * lanes::width; ++e) l.to[j + e] = relu_of(l.to[j + e]);
}

/// Makes whole vectors of a line of `count` results. *Returns* how many results these are.
template <bool RunsAreOfA, class T>
ONTO_INLINE std::int64_t make_tiny_line(const gemm_target<T>& to, const tiny_line<T>& l, std::int64_t count,
                                        std::int64_t k) {
  constexpr std::int64_t width = lanes_of<T, 16>::width;
  std::int64_t j = 0;
  for (; j + 2 * width <= count; j += 2 * width) make_tiny_tile<2, RunsAreOfA>(to, l, k, j);
  for (; j + width <= count; j += width) make_tiny_tile<1, RunsAreOfA>(to, l, k, j);
  return j;
}

/// to = relu(alpha * a(m, k) × b(k, n) + beta * addend), each sum in the order of k but that of two long runs.
template <class T>
void gemm_tiny(std::int64_t m, std::int64_t n, std::int64_t k, const matrix_view<T>& a, const matrix_view<T>& b,
               const gemm_target<T>& to) {
  const matrix_view<T>& more = to.addend;
  const bool runs = multiplies_runs(n, a, b);
  const auto make_one = [&](std::int64_t i, std::int64_t j) {
    T v = more.data == nullptr ? T{0} : to.beta * more.data[i * more.row + j * more.column];
    const T *x = a.data + i * a.row, *y = b.data + j * b.column;
    if (runs) {
      v += to.alpha * sum_of_products(x, y, k);
    } else {
      for (std::int64_t p = 0; p < k; ++p) v += to.alpha * x[p * a.column] * y[p * b.row];
    }
    to.data[i * to.row + j] = to.relu ? relu_of(v) : v;
  };
  if (!runs && n == 1 && a.row == 1 && to.row == 1) {
    std::int64_t i = make_tiny_line<true, T>(to, {to.data, more.data, more.row, a.data, a.column, b.data, b.row}, m, k);
    for (; i < m; ++i) make_one(i, 0);
    return;
  }
  tiny_line<T> l{to.data, more.data, more.column, b.data, b.row, a.data, a.column};
  for (std::int64_t i = 0; i < m; ++i, l.to += to.row, l.numbers += a.row) {
    std::int64_t j = !runs && b.column == 1 ? make_tiny_line<false>(to, l, n, k) : 0;
    for (; j < n; ++j) make_one(i, j);
    if (l.addend != nullptr) l.addend += more.row;
  }
}

}  // namespace onto::detail
