// SPDX-License-Identifier: BSL-1.0
// Softmax and log-softmax on the CPU, over any axis: greatest value, exponentials and their sum, one division.
#pragma once

#include <onto/backend/cpu/fold.hpp>
#include <onto/backend/cpu/map.hpp>
#include <onto/backend/cpu/packs.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/runtime/kernel.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace onto::detail {

/// out = exp(x - shift) over a run; `out` may be `x`. `Each`: every element has a shift of its own.
template <class T, bool Each, bool Packs>
void exp_run(const T* x, const T* shift, std::int64_t n, T* out) {
  if constexpr (Packs) {
    using lanes = pack<T>;
    constexpr std::int64_t width = lanes::size;
    const auto run = [](const T* from, const T* by, std::int64_t count, T* to) {
      for (std::int64_t k = 0; k < count; k += width) {
        const lanes s = Each ? lanes::load_unaligned(by + k) : lanes(*by);
        exp(lanes::load_unaligned(from + k) - s).store_unaligned(to + k);
      }
    };
    const std::int64_t left = n % width, whole = n - left;
    run(x, shift, whole, out);
    if (left == 0) return;
    T rest[2][width] = {};
    for (std::int64_t j = 0; j < left; ++j) {
      rest[0][j] = x[whole + j];
      rest[1][j] = shift[Each ? whole + j : 0];
    }
    run(rest[0], rest[1], width, rest[0]);
    std::memcpy(out + whole, rest[0], static_cast<std::size_t>(left) * sizeof(T));
  } else {
    for (std::int64_t k = 0; k < n; ++k) out[k] = std::exp(x[k] - shift[Each ? k : 0]);
  }
}

/// What softmax needs of the two folds in it.
template <class T>
struct softmax_folds {
  static constexpr const fold_table& greatest = fold_table_of<fold::max, T>;
  static constexpr const fold_table& total = fold_table_of<fold::sum, T>;
};

/// One row of `n` elements that lie next to each other. `x` may be `out`.
template <class T, bool Packs>
void softmax_row(const T* x, std::int64_t n, bool log, T* out) {
  using folds = softmax_folds<T>;
  constexpr std::int64_t run = 1024;
  T shift, sum, scratch[run];
  folds::greatest.start(&shift, 1);
  folds::greatest.rows(&shift, x, 1, n, 0);
  carried_sum accumulator;  // the largest accumulator there is
  folds::total.start(&accumulator, 1);
  for (std::int64_t k = 0; k < n; k += run) {
    const std::int64_t some = n - k < run ? n - k : run;
    T* const e = log ? scratch : out + k;
    exp_run<T, false, Packs>(x + k, &shift, some, e);
    folds::total.rows(&accumulator, e, 1, some, 0);
  }
  folds::total.finish(&accumulator, 1, n, &sum);
  if (log) {
    const T rest = std::log(sum);
    for (std::int64_t k = 0; k < n; ++k) out[k] = (x[k] - shift) - rest;
  } else {
    const T scale = 1 / sum;
    for (std::int64_t k = 0; k < n; ++k) out[k] *= scale;
  }
}

/// `columns` (at most 256) neighbouring columns of `n` elements `pitch` apart. `x` may be `out`.
template <class T, bool Packs>
void softmax_columns(const T* x, std::int64_t n, std::int64_t columns, std::int64_t pitch, bool log, T* out) {
  using folds = softmax_folds<T>;
  T shift[256], sum[256], scratch[256];
  carried_sum accumulators[256];
  folds::greatest.start(shift, columns);
  folds::greatest.columns(shift, x, n, columns, pitch, 0);
  folds::total.start(accumulators, columns);
  for (std::int64_t r = 0; r < n; ++r) {
    T* const e = log ? scratch : out + r * pitch;
    exp_run<T, true, Packs>(x + r * pitch, shift, columns, e);
    folds::total.columns(accumulators, e, 1, columns, columns, r);
  }
  folds::total.finish(accumulators, columns, n, sum);
  for (std::int64_t j = 0; j < columns; ++j) sum[j] = log ? std::log(sum[j]) : 1 / sum[j];
  for (std::int64_t r = 0; r < n; ++r) {
    const T* const from = x + r * pitch;
    T* const to = out + r * pitch;
    if (log)
      for (std::int64_t j = 0; j < columns; ++j) to[j] = (from[j] - shift[j]) - sum[j];
    else
      for (std::int64_t j = 0; j < columns; ++j) to[j] *= sum[j];
  }
}

/// The kernel of softmax and log-softmax over one axis. That of
/// float takes half and bfloat16 too.
template <class T, bool Packs = has_packs>
void cpu_softmax(thread_pool& pool, const kernel_call& call) {
  const std::int64_t size = call.space.size();
  if (size <= 0) return;
  const bool log = takes_logarithm(*call.op);
  const int axis = softmax_axis(*call.op, call.space.rank);
  std::int64_t inner = 1;
  for (int k = axis + 1; k < call.space.rank; ++k) inner *= call.space.dims[k];
  const std::int64_t n = call.space.dims[axis];

  const layout in = simplify(call.space, call.in[0].stride);
  const element type = call.in[0].type;
  const bool narrow = is_narrow(type);
  const T* const x = static_cast<const T*>(call.in[0].data);
  T* const out = static_cast<T*>(call.out.data);
  constexpr std::int64_t most = 256;
  const std::int64_t blocks = inner == 1 ? 1 : (inner + most - 1) / most, units = size / n / inner * blocks;
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo) {
      const std::int64_t start = lo % blocks * most, first = lo / blocks * n * inner + start;
      const std::int64_t columns = inner - start < most ? inner - start : most;
      const std::int64_t runs = columns == inner ? 1 : n, length = columns == inner ? n * inner : columns;
      if constexpr (std::is_same_v<T, float>) {
        if (narrow) {  // in floats of its own
          small_array<float, 4096> values(n * columns);
          small_array<char, 8192> gathered(in.contiguous() ? 0 : 2 * length);
          for (std::int64_t r = 0; r < runs; ++r) {
            const void* from = advance(call.in[0].data, first + r * inner, type);
            if (!in.contiguous()) {
              gather(in, size_of(type), call.in[0].data, first + r * inner, length, gathered.data());
              from = gathered.data();
            }
            call.narrow->widen(type, from, length, values.data() + r * length);
          }
          if (inner == 1)
            softmax_row<T, Packs>(values.data(), n, log, values.data());
          else
            softmax_columns<T, Packs>(values.data(), n, columns, columns, log, values.data());
          for (std::int64_t r = 0; r < runs; ++r)
            call.narrow->narrow(type, values.data() + r * length, length,
                                advance(call.out.data, first + r * inner, type));
          continue;
        }
      }
      const T* from = x + first;
      if (!in.contiguous()) {  // brought together in the result
        for (std::int64_t r = 0; r < runs; ++r)
          gather(in, sizeof(T), x, first + r * inner, length, out + first + r * inner);
        from = out + first;
      }
      if (inner == 1)
        softmax_row<T, Packs>(from, n, log, out + first);
      else
        softmax_columns<T, Packs>(from, n, columns, inner, log, out + first);
    }
  };
  split(pool, units, map_grain(20) * units / size + 1, body);
}

}  // namespace onto::detail
