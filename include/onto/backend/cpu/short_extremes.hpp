// SPDX-License-Identifier: BSL-1.0
// Where the greatest or least element of each short row is (argmax, argmin). Which one it is, is what no processor
// guesses, so that there are to be no branches on it.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/core/config.hpp>
#include <onto/kernel/accumulator.hpp>

#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// What elements lie in memory as: truth values as bytes, which make vectors.
template <class T>
using folded_value = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

/// The places of the extremes of `Width` rows that lie as columns, of `n` elements `pitch` apart: selections, since
/// which element is the greatest is what no processor guesses.
template <fold F, int Width, class T>
ONTO_INLINE void find_in_columns(std::int64_t* to, const T* v, std::int64_t n, std::int64_t pitch) {
  using place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  T best[Width];
  place at[Width] = {};
  for (int j = 0; j < Width; ++j) best[j] = v[j];
  for (place k = 1; k < n; ++k) {
    v += pitch;
    T x[Width];
    for (int j = 0; j < Width; ++j) x[j] = v[j];
    for (int j = 0; j < Width; ++j) at[j] = is_more_extreme<F>(x[j], best[j]) ? k : at[j];
    for (int j = 0; j < Width; ++j) best[j] = is_more_extreme<F>(x[j], best[j]) ? x[j] : best[j];
  }
  for (int j = 0; j < Width; ++j) to[j] = at[j];
}

/// Rows of `n` elements behind each other, of floats and doubles fewer than a pack: of more, pack_extremes.hpp.
template <fold F, class T>
struct short_extremes {
  using rule = accumulator<F, T>;
  using state = typename rule::state;
  using value = folded_value<T>;

  // g++ selects in one row; clang++ makes branches of that, and vectors of many rows, which g++ does of floats alone
  // where there is no AVX.
#if defined(__clang__)
  static constexpr int together = std::is_floating_point_v<T> ? 1 : 4;
  template <int>
  static constexpr bool in_columns = std::is_floating_point_v<T>;
#else
  static constexpr int together = 1;
  template <int Bytes>
  static constexpr bool in_columns = Bytes < 32 && std::is_same_v<T, float>;
#endif

  static ONTO_INLINE state extreme_of(const value* v, std::int64_t n) {
    value best = v[0];
    std::int64_t at = 0;
    for (std::int64_t k = 1; k < n; ++k) {
      const bool more = is_more_extreme<F>(v[k], best);
      at = more ? k : at;
      best = more ? v[k] : best;
    }
    return {best, at};
  }
  template <int Rows>
  static ONTO_INLINE void find_extremes(state (&found)[Rows], const value* v, std::int64_t n) {
    value best[Rows];
    std::int64_t at[Rows] = {};
    for (int j = 0; j < Rows; ++j) best[j] = v[j * n];
    for (std::int64_t k = 1; k < n; ++k)
      for (int j = 0; j < Rows; ++j) {
        const value x = v[j * n + k];
        const bool more = is_more_extreme<F>(x, best[j]);
        at[j] = more ? k : at[j];
        best[j] = more ? x : best[j];
      }
    for (int j = 0; j < Rows; ++j) found[j] = {best[j], at[j]};
  }

  static constexpr int at_once = 16;
  /// The extremes of the first rows. *Returns* of how many.
  static ONTO_INLINE int find_some(state (&found)[at_once], const value* v, std::int64_t rows, std::int64_t n) {
    const int some = rows < at_once ? static_cast<int>(rows) : at_once;
    int r = 0;
    if constexpr (together > 1)
      for (; r + together <= some; r += together) {
        state few[together];
        find_extremes(few, v + r * n, n);
        for (int j = 0; j < together; ++j) found[r + j] = few[j];
      }
    for (; r < some; ++r) found[r] = extreme_of(v + r * n, n);
    return some;
  }

  /// The places of the extremes of rows, as results.
  template <int Bytes>
  static ONTO_INLINE void run(void* to, const void* values, std::int64_t rows, std::int64_t n) {
    auto* const result = static_cast<typename rule::result*>(to);
    const value* v = static_cast<const value*>(values);
    std::int64_t r = 0;
    if constexpr (in_columns<Bytes>) {
      constexpr int width = 16;
      constexpr std::int64_t most = 1024;
      value turned[most];
      for (std::int64_t some = most / n / width * width; r + width <= rows; v += some * n) {
        some = rows - r < some ? (rows - r) / width * width : some;
        copy_elements(sizeof(value), turned, some, 1, v, 1, n, n, some);
        for (const std::int64_t end = r + some, first = r; r < end; r += width)
          find_in_columns<F, width>(result + r, turned + (r - first), n, some);
      }
    }
    state found[at_once];
    for (int some = 0; r < rows; r += some, v += some * n) {
      some = find_some(found, v, rows - r, n);
      for (int j = 0; j < some; ++j) result[r + j] = rule::finish(found[j], n);
    }
  }
  using variants = vector_variants<short_extremes, void(void*, const void*, std::int64_t, std::int64_t)>;
  /// As a function; without AVX2 as the file is compiled: there kernels are not, into vectors.
  template <int Bytes>
  static consteval auto of() {
    if constexpr (Bytes < 32)
      return &run<Bytes>;
    else
      return variants::template get<Bytes>();
  }
};

}  // namespace onto::detail
