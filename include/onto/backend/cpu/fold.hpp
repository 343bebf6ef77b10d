// SPDX-License-Identifier: BSL-1.0
// Folding runs of values: sums, products, extremes and where they are. Many accumulators side by side, so that the
// compiler has vectors to make of them and errors stay as small as pairwise summation's.
#pragma once

#include <onto/core/config.hpp>
#include <onto/ops/reduce.hpp>

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

// ---- what is accumulated, and how two values become one
// ----------------------------------------------------------------

template <fold F, class T>
struct fold_rule;

/// What sums and products of `T` are kept in: integers unsigned, so that they wrap.
template <class T, bool Integer = std::is_integral_v<T>>
struct sum_accumulator {
  using type = element_t<accumulated_as(element_of<T>)>;
};
template <class T>
struct sum_accumulator<T, true> {
  using type = std::make_unsigned_t<element_t<accumulated_as(element_of<T>)>>;
};

template <class T>
struct fold_rule<fold::sum, T> {
  using accumulator = typename sum_accumulator<T>::type;
  using stored = T;
  using summed = element_t<summed_as(element_of<T>)>;
  static constexpr accumulator identity = 0;
  static constexpr bool sums = true;
  static ONTO_INLINE accumulator combine(accumulator a, accumulator b) { return a + b; }
  static summed result(accumulator a, std::int64_t) { return static_cast<summed>(a); }
};

template <class T>
struct fold_rule<fold::mean, T> : fold_rule<fold::sum, T> {
  static T result(double a, std::int64_t folded) { return static_cast<T>(a / static_cast<double>(folded)); }
};

template <class T>
struct fold_rule<fold::prod, T> {
  using accumulator = typename sum_accumulator<T>::type;
  using stored = T;
  using summed = element_t<summed_as(element_of<T>)>;
  static constexpr accumulator identity = 1;
  static ONTO_INLINE accumulator combine(accumulator a, accumulator b) { return a * b; }
  static summed result(accumulator a, std::int64_t) { return static_cast<summed>(a); }
};

template <fold F, class T>
struct extreme {
  using accumulator = T;
  using stored = T;
  static constexpr bool least = F == fold::min || F == fold::argmin;
  static constexpr T lowest = std::numeric_limits<T>::has_infinity ? static_cast<T>(-std::numeric_limits<T>::infinity())
                                                                   : std::numeric_limits<T>::lowest();
  static constexpr T highest =
      std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  static constexpr T identity = least ? highest : lowest;
  /// Whether `b` takes the place of `a`. A NaN does, and keeps it.
  static ONTO_INLINE bool better(T b, T a) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<bool>(static_cast<int>(least ? b < a : b > a) | static_cast<int>(b != b));
    else
      return least ? b < a : b > a;
  }
  static ONTO_INLINE T combine(T a, T b) { return better(b, a) ? b : a; }
  static T result(T a, std::int64_t) { return a; }
};
template <class T>
struct fold_rule<fold::min, T> : extreme<fold::min, T> {};
template <class T>
struct fold_rule<fold::max, T> : extreme<fold::max, T> {};

template <fold F>
struct truth {
  using accumulator = unsigned char;
  using stored = unsigned char;
  static constexpr accumulator identity = F == fold::all ? 1 : 0;
  static ONTO_INLINE accumulator combine(accumulator a, accumulator b) {
    return static_cast<accumulator>(F == fold::all ? a & b : a | b);
  }
  static bool result(accumulator a, std::int64_t) { return a != 0; }
};
template <>
struct fold_rule<fold::any, bool> : truth<fold::any> {};
template <>
struct fold_rule<fold::all, bool> : truth<fold::all> {};

// ---- runs of values
// ------------------------------------------------------------------------------------------------------

// Sums of floats add four floats before they go into a double: converting each would cost more than all else, and two
// roundings are fewer than pairwise summation has.
template <class Folding>
inline constexpr bool sums_fours = requires {
  requires Folding::sums;
}
&&std::is_same_v<typename Folding::stored, float>;

template <class T>
ONTO_INLINE T four(const T* v, std::int64_t apart) {
  return (v[0] + v[apart]) + (v[2 * apart] + v[3 * apart]);
}

/// All values of a run in one accumulator.
template <class Folding>
typename Folding::accumulator fold_run(const typename Folding::stored* v, std::int64_t n) {
  using A = typename Folding::accumulator;
  A a = Folding::identity;
  if (n < fold_lanes) {
    for (std::int64_t k = 0; k < n; ++k) a = Folding::combine(a, static_cast<A>(v[k]));
    return a;
  }
  A lane[fold_lanes];
  for (int j = 0; j < fold_lanes; ++j) lane[j] = static_cast<A>(v[j]);
  std::int64_t k = fold_lanes;
  if constexpr (sums_fours<Folding>)
    for (; k + 4 * fold_lanes <= n; k += 4 * fold_lanes)
      for (int j = 0; j < fold_lanes; ++j) lane[j] += static_cast<A>(four(v + k + j, fold_lanes));
  for (; k + fold_lanes <= n; k += fold_lanes)
    for (int j = 0; j < fold_lanes; ++j) lane[j] = Folding::combine(lane[j], static_cast<A>(v[k + j]));
  for (int j = 0; k + j < n; ++j) lane[j] = Folding::combine(lane[j], static_cast<A>(v[k + j]));
  for (int width = fold_lanes / 2; width > 0; width /= 2)
    for (int j = 0; j < width; ++j) lane[j] = Folding::combine(lane[j], lane[j + width]);
  return lane[0];
}

/// `Width` neighbouring columns, each in its accumulator.
template <class Folding, int Width>
ONTO_INLINE void fold_columns(typename Folding::accumulator* a, const typename Folding::stored* v, std::int64_t rows,
                              std::int64_t pitch) {
  using A = typename Folding::accumulator;
  A lane[Width];
  for (int j = 0; j < Width; ++j) lane[j] = a[j];
  std::int64_t r = 0;
  if constexpr (sums_fours<Folding>)
    for (; r + 4 <= rows; r += 4, v += 4 * pitch)
      for (int j = 0; j < Width; ++j) lane[j] += static_cast<A>(four(v + j, pitch));
  for (; r < rows; ++r, v += pitch)
    for (int j = 0; j < Width; ++j) lane[j] = Folding::combine(lane[j], static_cast<A>(v[j]));
  for (int j = 0; j < Width; ++j) a[j] = lane[j];
}

template <class Folding>
struct plain_fold {
  using A = typename Folding::accumulator;
  using T = typename Folding::stored;

  static void start(void* to, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) static_cast<A*>(to)[k] = Folding::identity;
  }
  static void rows(void* to, const void* values, std::int64_t rows, std::int64_t n, std::int64_t) {
    A* a = static_cast<A*>(to);
    const T* v = static_cast<const T*>(values);
    for (std::int64_t r = 0; r < rows; ++r, v += n) a[r] = Folding::combine(a[r], fold_run<Folding>(v, n));
  }
  static void columns(void* to, const void* values, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                      std::int64_t) {
    A* a = static_cast<A*>(to);
    const T* v = static_cast<const T*>(values);
    std::int64_t j = 0;
    for (; j + 64 <= n; j += 64) fold_columns<Folding, 64>(a + j, v + j, rows, pitch);
    for (; j + 8 <= n; j += 8) fold_columns<Folding, 8>(a + j, v + j, rows, pitch);
    for (; j < n; ++j) fold_columns<Folding, 1>(a + j, v + j, rows, pitch);
  }
  static void merge(void* to, const void* from, std::int64_t count) {
    A* a = static_cast<A*>(to);
    const A* b = static_cast<const A*>(from);
    for (std::int64_t k = 0; k < count; ++k) a[k] = Folding::combine(a[k], b[k]);
  }
  static void finish(const void* from, std::int64_t count, std::int64_t folded, void* to) {
    using Result = decltype(Folding::result(A{}, folded));
    for (std::int64_t k = 0; k < count; ++k)
      static_cast<Result*>(to)[k] = Folding::result(static_cast<const A*>(from)[k], folded);
  }
};

// ---- sums of doubles
// -----------------------------------------------------------------------------------------------------

/// A sum and what rounding has taken from it.
struct carried_sum {
  double sum;
  double carry;
  ONTO_INLINE void add(double x) {  // Knuth's two-sum
    const double s = sum + x, part = s - sum;
    carry += (sum - (s - part)) + (x - part);
    sum = s;
  }
};

template <class Folding>
struct carried_fold {
  static constexpr std::int64_t block = 16 * fold_lanes;

  static void start(void* to, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) static_cast<carried_sum*>(to)[k] = {0, 0};
  }
  static void rows(void* to, const void* values, std::int64_t rows, std::int64_t n, std::int64_t) {
    carried_sum* a = static_cast<carried_sum*>(to);
    const double* v = static_cast<const double*>(values);
    for (std::int64_t r = 0; r < rows; ++r, v += n)
      for (std::int64_t k = 0; k < n; k += block) a[r].add(fold_run<Folding>(v + k, n - k < block ? n - k : block));
  }
  static void columns(void* to, const void* values, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                      std::int64_t) {
    carried_sum* a = static_cast<carried_sum*>(to);
    const double* v = static_cast<const double*>(values);
    constexpr std::int64_t width = 64;
    for (std::int64_t r = 0; r < rows; r += 16) {
      const std::int64_t some = rows - r < 16 ? rows - r : 16;
      for (std::int64_t j = 0; j < n; j += width) {
        double part[width] = {};
        const std::int64_t w = n - j < width ? n - j : width;
        plain_fold<Folding>::columns(part, v + r * pitch + j, some, w, pitch, 0);
        for (std::int64_t c = 0; c < w; ++c) a[j + c].add(part[c]);
      }
    }
  }
  static void merge(void* to, const void* from, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) {
      const carried_sum& b = static_cast<const carried_sum*>(from)[k];
      carried_sum& a = static_cast<carried_sum*>(to)[k];
      a.add(b.sum);
      a.carry += b.carry;
    }
  }
  static void finish(const void* from, std::int64_t count, std::int64_t folded, void* to) {
    for (std::int64_t k = 0; k < count; ++k) {
      const carried_sum& a = static_cast<const carried_sum*>(from)[k];
      // An infinite sum has no carry: it is infinity less infinity.
      static_cast<double*>(to)[k] = Folding::result(a.carry == a.carry ? a.sum + a.carry : a.sum, folded);
    }
  }
};

// ---- where the extremes are
// ------------------------------------------------------------------------------------------------

template <fold F, class T>
struct place_fold {
  using compare = extreme<F, T>;
  struct place {
    T value;
    std::int64_t index;  // -1: nothing yet
    // The first of equals stays, and the first NaN.
    ONTO_INLINE void take(T v, std::int64_t i) {
      if (index >= 0 && (value != value || !compare::better(v, value))) return;
      value = v;
      index = i;
    }
  };

  static void start(void* to, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) static_cast<place*>(to)[k] = {compare::identity, -1};
  }
  static void rows(void* to, const void* values, std::int64_t rows, std::int64_t n, std::int64_t index) {
    place* a = static_cast<place*>(to);
    const T* v = static_cast<const T*>(values);
    constexpr std::int64_t block = 1024;
    for (std::int64_t r = 0; r < rows; ++r, v += n)
      for (std::int64_t k = 0; k < n; k += block) {
        const std::int64_t some = n - k < block ? n - k : block;
        const T best = fold_run<compare>(v + k, some);
        if (a[r].index >= 0 && (a[r].value != a[r].value || !compare::better(best, a[r].value))) continue;
        a[r] = {best, index + k + find(v + k, some, best)};
      }
  }
  // Where the first `best` is, which is one of the values; a NaN is like any other.
  static std::int64_t find(const T* v, std::int64_t n, T best) {
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
  static void columns(void* to, const void* values, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                      std::int64_t index) {
    place* a = static_cast<place*>(to);
    const T* v = static_cast<const T*>(values);
    for (std::int64_t r = 0; r < rows; ++r, v += pitch)
      for (std::int64_t j = 0; j < n; ++j) a[j].take(v[j], index + r);
  }
  // The others are further along the axis.
  static void merge(void* to, const void* from, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) {
      const place& b = static_cast<const place*>(from)[k];
      if (b.index >= 0) static_cast<place*>(to)[k].take(b.value, b.index);
    }
  }
  static void finish(const void* from, std::int64_t count, std::int64_t, void* to) {
    for (std::int64_t k = 0; k < count; ++k)
      static_cast<std::int64_t*>(to)[k] = static_cast<const place*>(from)[k].index;
  }
};

template <class Fold>
constexpr fold_table table_of(int accumulator_size, int result_size) {
  return {accumulator_size, result_size, &Fold::start, &Fold::rows, &Fold::columns, &Fold::merge, &Fold::finish};
}

template <fold F, class T>
constexpr fold_table make_fold_table() {
  if constexpr (F == fold::argmin || F == fold::argmax)
    return table_of<place_fold<F, T>>(sizeof(typename place_fold<F, T>::place), sizeof(std::int64_t));
  else if constexpr ((F == fold::sum || F == fold::mean) && std::is_same_v<T, double>)
    return table_of<carried_fold<fold_rule<F, T>>>(sizeof(carried_sum), sizeof(double));
  else
    return table_of<plain_fold<fold_rule<F, T>>>(sizeof(typename fold_rule<F, T>::accumulator),
                                                 sizeof(decltype(fold_rule<F, T>::result({}, 0))));
}

template <fold F, class T>
inline constexpr fold_table fold_table_of = make_fold_table<F, T>();

}  // namespace onto::detail
