// SPDX-License-Identifier: BSL-1.0
// Folding runs of values: sums, products, extremes and where they are. Many accumulators side by side, so that the
// compiler has vectors to make of them and errors stay as small as pairwise summation's.
#pragma once

#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/backend/cpu/short_extremes.hpp>
#include <onto/core/config.hpp>
#include <onto/kernel/accumulator.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace onto::detail {

/// A fold over one element type, as functions over accumulators that only it knows.
struct fold_table {
  int accumulator_size;
  int result_size;
  void (*start)(void* accumulators, std::int64_t count);
  /// Accumulator `r` takes the `n` values of row `r`; `index` is that of each row's first value in the folded axis.
  void (*rows)(void* accumulators, const void* values, std::int64_t rows, std::int64_t n, std::int64_t index);
  /// Accumulator `j` takes value `j` of each row; `index` is that of the first row in the folded axis.
  void (*columns)(void* accumulators, const void* values, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                  std::int64_t index);
  void (*merge)(void* accumulators, const void* others, std::int64_t count);
  void (*finish)(const void* accumulators, std::int64_t count, std::int64_t folded, void* results);
};

inline constexpr int fold_lanes = 32;

/// Rows of fewer values are folded one by one, without accumulators.
constexpr std::int64_t short_row_of(fold f) { return is_argument(f) ? 256 : fold_lanes; }

/// Sums of floats add four floats before they go into a double: converting each would cost more than all else, and two
/// roundings are fewer than pairwise summation has.
template <fold F, class T>
inline constexpr bool sums_fours = is_sum(F) && std::is_same_v<T, float>;

template <class T>
ONTO_INLINE T four(const T* v, std::int64_t apart) {
  return (v[0] + v[apart]) + (v[2 * apart] + v[3 * apart]);
}

/// All values of a run in one number.
template <fold F, class T>
ONTO_INLINE typename number_state<F, T>::type fold_run(const folded_value<T>* v, std::int64_t n) {
  using numbers = number_state<F, T>;
  using A = typename numbers::type;
  A a = numbers::identity;
  if (n < fold_lanes) {
    for (std::int64_t k = 0; k < n; ++k) a = numbers::combine(a, static_cast<A>(v[k]));
    return a;
  }
  A lane[fold_lanes];
  for (int j = 0; j < fold_lanes; ++j) lane[j] = static_cast<A>(v[j]);
  std::int64_t k = fold_lanes;
  if constexpr (sums_fours<F, T>)
    for (; k + 4 * fold_lanes <= n; k += 4 * fold_lanes)
      for (int j = 0; j < fold_lanes; ++j) lane[j] += static_cast<A>(four(v + k + j, fold_lanes));
  for (; k + fold_lanes <= n; k += fold_lanes)
    for (int j = 0; j < fold_lanes; ++j) lane[j] = numbers::combine(lane[j], static_cast<A>(v[k + j]));
  for (int j = 0; k + j < n; ++j) lane[j] = numbers::combine(lane[j], static_cast<A>(v[k + j]));
  for (int width = fold_lanes / 2; width > 0; width /= 2)
    for (int j = 0; j < width; ++j) lane[j] = numbers::combine(lane[j], lane[j + width]);
  return lane[0];
}

/// Four rows of `n` values, fewer than fold_lanes, each in its number; they do not wait for each other.
template <fold F, class T, class A>
ONTO_INLINE void fold_four_rows(A (&total)[4], const folded_value<T>* v, std::int64_t n, std::int64_t pitch) {
  using numbers = number_state<F, T>;
  for (int j = 0; j < 4; ++j) total[j] = numbers::identity;
  if constexpr (sums_fours<F, T>) {
    for (std::int64_t k = 0; k < n;) {
      T some[4] = {};
      for (const std::int64_t end = n - k < 4 ? n : k + 4; k < end; ++k)
        for (int j = 0; j < 4; ++j) some[j] += v[j * pitch + k];
      for (int j = 0; j < 4; ++j) total[j] += static_cast<A>(some[j]);
    }
  } else if constexpr (std::is_floating_point_v<T> && (F == fold::min || F == fold::max)) {
    using mask = std::conditional_t<sizeof(T) == 8, T, std::int32_t>;  // SSE2 selects no integers of 8 bytes
    mask nan[4] = {};
    for (std::int64_t k = 0; k < n; ++k)
      for (int j = 0; j < 4; ++j) {
        const T x = v[j * pitch + k];
        total[j] = (F == fold::min ? x < total[j] : x > total[j]) ? x : total[j];  // one instruction; passes over NaN
        nan[j] = x != x ? static_cast<mask>(-1) : nan[j];
      }
    for (int j = 0; j < 4; ++j) total[j] = nan[j] != 0 ? std::numeric_limits<T>::quiet_NaN() : total[j];
  } else {
    for (std::int64_t k = 0; k < n; ++k)
      for (int j = 0; j < 4; ++j) total[j] = numbers::combine(total[j], static_cast<A>(v[j * pitch + k]));
  }
}

/// `Width` neighbouring columns, each in its number.
template <fold F, class T, int Width, class A>
ONTO_INLINE void fold_columns(A* a, const folded_value<T>* v, std::int64_t rows, std::int64_t pitch) {
  A lane[Width];
  for (int j = 0; j < Width; ++j) lane[j] = a[j];
  std::int64_t r = 0;
  if constexpr (sums_fours<F, T>)
    for (; r + 4 <= rows; r += 4, v += 4 * pitch)
      for (int j = 0; j < Width; ++j) lane[j] += static_cast<A>(four(v + j, pitch));
  for (; r < rows; ++r, v += pitch)
    for (int j = 0; j < Width; ++j) lane[j] = number_state<F, T>::combine(lane[j], static_cast<A>(v[j]));
  for (int j = 0; j < Width; ++j) a[j] = lane[j];
}

/// `n` neighbouring columns.
template <fold F, class T, class A>
ONTO_INLINE void fold_all_columns(A* a, const folded_value<T>* v, std::int64_t rows, std::int64_t n,
                                  std::int64_t pitch) {
  std::int64_t j = 0;
  for (; j + 64 <= n; j += 64) fold_columns<F, T, 64>(a + j, v + j, rows, pitch);
  for (; j + 8 <= n; j += 8) fold_columns<F, T, 8>(a + j, v + j, rows, pitch);
  for (; j < n; ++j) fold_columns<F, T, 1>(a + j, v + j, rows, pitch);
}

/// Where the first `best` is, which is one of the values; a NaN is like any other.
template <class T>
ONTO_INLINE std::int64_t find_value(const T* v, std::int64_t n, T best) {
  const auto same = [best](T x) {
    return static_cast<int>(x == best) | (static_cast<int>(x != x) & static_cast<int>(best != best));
  };
  std::int64_t k = 0;
  for (; k + fold_lanes <= n; k += fold_lanes) {
    int found = 0;
    for (int j = 0; j < fold_lanes; ++j) found |= same(v[k + j]);
    if (found != 0) break;
  }
  while (k + 1 < n && same(v[k]) == 0) ++k;
  return k;
}

/// The total of some values joins what `accumulator<F, T>` has.
template <fold F, class T>
ONTO_INLINE void add_total(void* state, typename number_state<F, T>::type total) {
  auto& s = *static_cast<typename accumulator<F, T>::state*>(state);
  if constexpr (std::is_same_v<decltype(s), compensated_sum&>)
    s.add(total);
  else
    s.number = number_state<F, T>::combine(s.number, total);
}

/// The functions of a fold_table: runs of values, over the accumulator that says what they mean.
template <fold F, class T>
struct folding {
  using rule = accumulator<F, T>;
  using state = typename rule::state;
  using value = folded_value<T>;
  static constexpr bool compensates = std::is_same_v<state, compensated_sum>;

  static void start(void* to, std::int64_t count) {
    state* const s = static_cast<state*>(to);
    std::int64_t k = 0;
    for (; k + 8 <= count; k += 8)  // loops of eight become vectors by -O2, too
      for (int j = 0; j < 8; ++j) s[k + j] = rule::empty();
    for (; k < count; ++k) s[k] = rule::empty();
  }
  /// A run's place in the whole, where a state has none better.
  static ONTO_INLINE void take(state& s, T best, const value* v, std::int64_t n, std::int64_t index) {
    if (s.index < 0 || is_more_extreme<F>(best, s.value)) s = {best, index + find_value(v, n, best)};
  }
  /// Rows of fewer than fold_lanes values: they join the states at `to`, or are `whole`, and their results go there.
  static ONTO_INLINE void short_rows(void* to, const void* values, std::int64_t rows, std::int64_t n, bool whole) {
    using numbers = number_state<F, T>;
    auto* const result = static_cast<typename rule::result*>(to);
    auto* const states = static_cast<state*>(to);
    const value* v = static_cast<const value*>(values);
    std::int64_t r = 0;
    for (; r + 4 <= rows; r += 4, v += 4 * n) {
      typename numbers::type total[4];
      fold_four_rows<F, T>(total, v, n, n);
      if (whole)
        for (int j = 0; j < 4; ++j) result[r + j] = numbers::finish(total[j], n);
      else
        for (int j = 0; j < 4; ++j) add_total<F, T>(states + r + j, total[j]);
    }
    for (; r < rows; ++r, v += n) {
      typename numbers::type total[4];  // of four times itself, to the same bits
      fold_four_rows<F, T>(total, v, n, 0);
      if (whole)
        result[r] = numbers::finish(total[0], n);
      else
        add_total<F, T>(states + r, total[0]);
    }
  }
  static ONTO_INLINE void rows(void* to, const void* values, std::int64_t rows, std::int64_t n, std::int64_t index) {
    state* s = static_cast<state*>(to);
    const value* v = static_cast<const value*>(values);
    constexpr std::int64_t block = compensates ? 16 * fold_lanes : 1024;
    if (n < fold_lanes) {
      if constexpr (!is_argument(F)) {
        short_rows(to, values, rows, n, false);
      } else {
        using extremes = short_extremes<F, T>;
        state found[extremes::at_once];
        for (int some = 0; rows > 0; rows -= some, s += some, v += some * n) {
          some = extremes::find_some(found, v, rows, n);
          for (int j = 0; j < some; ++j)
            if (s[j].index < 0 || is_more_extreme<F>(found[j].value, s[j].value))
              s[j] = {found[j].value, index + found[j].index};
        }
      }
      return;
    }
    for (std::int64_t r = 0; r < rows; ++r, ++s, v += n) {
      if constexpr (is_argument(F) || compensates) {
        for (std::int64_t k = 0; k < n; k += block) {
          const std::int64_t some = n - k < block ? n - k : block;
          const auto folded = fold_run<F, T>(v + k, some);
          if constexpr (compensates)
            add_total<F, T>(s, folded);
          else
            take(*s, folded, v + k, some, index + k);
        }
      } else {
        add_total<F, T>(s, fold_run<F, T>(v, n));
      }
    }
  }
  /// `bytes`: of the vectors it is compiled for.
  static ONTO_INLINE void columns(void* to, const void* values, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                                  std::int64_t index, [[maybe_unused]] int bytes = 0) {
    state* s = static_cast<state*>(to);
    const value* v = static_cast<const value*>(values);
    if constexpr (is_argument(F)) {
      constexpr int width = 16;
      const std::int64_t wide = bytes < 32 || rows < 3 ? 0 : n / width * width;  // SSE2 selects slowly
      for (std::int64_t r = 0, some; r < rows && wide > 0; r += some) {
        some = rows - r < 64 ? rows - r : 64;  // as many as lie in pages that processors know the addresses of
        const value* const u = v + r * pitch;
        for (std::int64_t j = 0; j < wide; j += width) {
          std::int64_t at[width];
          find_in_columns<F, width>(at, u + j, some, pitch);
          for (int c = 0; c < width; ++c) rule::add(s[j + c], u[at[c] * pitch + j + c], index + r + at[c]);
        }
      }
      for (std::int64_t r = 0; r < rows && wide < n; ++r, v += pitch)
        for (std::int64_t j = wide; j < n; ++j)
          if (s[j].index < 0 || is_more_extreme<F>(v[j], s[j].value)) s[j] = {v[j], index + r};
    } else if constexpr (compensates) {
      constexpr std::int64_t width = 64;
      for (std::int64_t r = 0; r < rows; r += 16) {
        const std::int64_t some = rows - r < 16 ? rows - r : 16;
        for (std::int64_t j = 0; j < n; j += width) {
          double part[width] = {};
          const std::int64_t w = n - j < width ? n - j : width;
          fold_all_columns<F, T>(part, v + r * pitch + j, some, w, pitch);
          for (std::int64_t c = 0; c < w; ++c) s[j + c].add(part[c]);
        }
      }
    } else {
      fold_all_columns<F, T>(&s->number, v, rows, n, pitch);
    }
  }
  static void merge(void* to, const void* from, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k)
      rule::merge(static_cast<state*>(to)[k], static_cast<const state*>(from)[k]);
  }
  static void finish(const void* from, std::int64_t count, std::int64_t folded, void* to) {
    const state* const s = static_cast<const state*>(from);
    auto* const result = static_cast<typename rule::result*>(to);
    std::int64_t k = 0;
    for (; k + 8 <= count; k += 8)
      for (int j = 0; j < 8; ++j) result[k + j] = rule::finish(s[k + j], folded);
    for (; k < count; ++k) result[k] = rule::finish(s[k], folded);
  }
};

/// The loops of a fold_table as kernels for each instruction set. A mean has those of a sum.
template <fold F, class T>
struct rows_body {
  template <int>
  static ONTO_INLINE void run(void* to, const void* values, std::int64_t rows, std::int64_t n, std::int64_t index) {
    folding<F, T>::rows(to, values, rows, n, index);
  }
  using variants = vector_variants<rows_body, void(void*, const void*, std::int64_t, std::int64_t, std::int64_t)>;
};
template <fold F, class T>
struct columns_body {
  template <int Bytes>
  static ONTO_INLINE void run(void* to, const void* values, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                              std::int64_t index) {
    folding<F, T>::columns(to, values, rows, n, pitch, index, Bytes);
  }
  using variants =
      vector_variants<columns_body, void(void*, const void*, std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;
};

/// The loops that a fold_table has; others are null.
enum class fold_loops { none, rows, columns, all };

inline namespace ONTO_VECTOR_ABI {

template <fold F, class T, fold_loops Loops, int Bytes>
constexpr fold_table make_fold_table() {
  using rule = accumulator<F, T>;
  constexpr fold loop = F == fold::mean ? fold::sum : F;
  fold_table t{sizeof(typename rule::state), sizeof(typename rule::result), &folding<F, T>::start, nullptr, nullptr,
               &folding<F, T>::merge,        &folding<F, T>::finish};
  if constexpr (Loops == fold_loops::all || Loops == fold_loops::rows)
    t.rows = rows_body<loop, T>::variants::template get<Bytes>();
  if constexpr (Loops == fold_loops::all || Loops == fold_loops::columns)
    t.columns = columns_body<loop, T>::variants::template get<Bytes>();
  return t;
}
template <fold F, class T, fold_loops Loops = fold_loops::all, int Bytes = vector_bytes>
inline constexpr fold_table fold_table_of = make_fold_table<F, T, Loops, Bytes>();

template <fold F, class T, fold_loops Loops>
struct fold_tables {
  template <int Bytes>
  static constexpr const fold_table& of() {
    return fold_table_of<F, T, Loops, Bytes>;
  }
};

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail
