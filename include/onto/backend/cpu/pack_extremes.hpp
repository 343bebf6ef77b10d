// SPDX-License-Identifier: BSL-1.0
// Where the greatest or least element of each row is (argmax, argmin), of rows of floats or doubles that are a pack at
// least and still too short for what fold_span.hpp does: in each lane the extreme so far and its place, side by side.
#pragma once

#include <onto/backend/cpu/pack_fold.hpp>
#include <onto/backend/cpu/short_extremes.hpp>

#include <cstdint>

namespace onto::detail {

/// Rows of `n` elements behind each other. *Preconditions* of `run`: a pack at least, and no more than T counts.
template <fold F, class T>
struct pack_extremes {
  template <int Bytes>
  static ONTO_INLINE std::int64_t place_of(const T* v, std::int64_t n, const pack<T, Bytes>& numbers) {
    using lanes = pack<T, Bytes>;
    constexpr bool least = F == fold::argmin;
    constexpr std::int64_t width = lanes::size;
    lanes best = lanes::load_unaligned(v), place = numbers, now = numbers;
    auto nan = isnan(best);
    for (std::int64_t k = width; k < n; k += width) {
      now += lanes(static_cast<T>(width));
      if (k + width > n) {  // the last elements, some of them again
        k = n - width;
        now = numbers + lanes(static_cast<T>(k));
      }
      const lanes x = lanes::load_unaligned(v + k);
      place = select(least ? x < best : x > best, now, place);
      best = pack_extreme<T, Bytes, least>::better(x, best);
      nan = nan | isnan(x);
    }
    if (any(nan)) return short_extremes<F, T>::extreme_of(v, n).index;
    const lanes found(join_lanes<lane_extreme<least>>(best));
    return static_cast<std::int64_t>(
        join_lanes<lane_extreme<true>>(select(best == found, place, lanes(static_cast<T>(n)))));
  }

  /// The places of the extremes of rows, as results.
  template <int Bytes>
  static ONTO_INLINE void run(void* to, const void* values, std::int64_t rows, std::int64_t n) {
    using lanes = pack<T, Bytes>;
    auto* const result = static_cast<typename accumulator<F, T>::result*>(to);
    const T* const v = static_cast<const T*>(values);
    T number[lanes::size];
    for (int j = 0; j < lanes::size; ++j) number[j] = static_cast<T>(j);
    const lanes numbers = lanes::load_unaligned(number);
    for (std::int64_t r = 0; r < rows; ++r) result[r] = place_of<Bytes>(v + r * n, n, numbers);
  }
  using variants = vector_variants<pack_extremes, void(void*, const void*, std::int64_t, std::int64_t)>;
};

}  // namespace onto::detail
