// SPDX-License-Identifier: BSL-1.0
// Folds of packs in registers: sums, means, products and extremes of floats and doubles, as exact as those of fold.hpp
// and without its detour through memory.
#pragma once

#include <onto/backend/cpu/fold.hpp>
#include <onto/backend/cpu/packs.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace onto::detail {
inline namespace ONTO_VECTOR_ABI {

// ---- lanes of a pack as smaller packs, without a way through memory ---------------------------------------

#if ONTO_PACKS
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define ONTO_SHUFFLES
template <int First, class V, class Half, int... K>
ONTO_INLINE void take_lanes(const V& v, Half& half, std::integer_sequence<int, K...>) {
  half = __builtin_shufflevector(v, v, (K + First)...);
}
#endif
#endif

/// Half of a pack's lanes: the lower, or the `Upper`.
template <bool Upper, class T, int Bytes>
ONTO_INLINE pack<T, Bytes / 2> half_of(const pack<T, Bytes>& p) {
  pack<T, Bytes / 2> half;
#if defined(ONTO_SHUFFLES)  // where a copy of the half goes through memory
  constexpr int n = pack<T, Bytes / 2>::size;
  take_lanes<Upper ? n : 0>(p.data, half.data, std::make_integer_sequence<int, n>{});
#else
  std::memcpy(&half.data, reinterpret_cast<const char*>(&p.data) + (Upper ? sizeof half.data : 0), sizeof half.data);
#endif
  return half;
}

/// All lanes of a pack in one value.
template <class Join, class T, int Bytes>
ONTO_INLINE T join_lanes(const pack<T, Bytes>& p) {
  if constexpr (Bytes > 16)  // smaller vectors are not what registers hold
    return join_lanes<Join>(Join::join(half_of<false>(p), half_of<true>(p)));
  else if constexpr (pack<T, Bytes>::size == 4)
    return Join::join(Join::join(T{p.data[0]}, T{p.data[1]}), Join::join(T{p.data[2]}, T{p.data[3]}));
  else
    return Join::join(T{p.data[0]}, T{p.data[1]});
}
#endif

// The double of a template, so that nothing here is looked at where there are no packs.
template <class T, int Bytes>
using wide_pack = pack<std::conditional_t<std::is_same_v<T, float>, double, T>, Bytes>;

/// A pack of floats as two of doubles.
template <class T, int Bytes>
struct wide_lanes {
  wide_pack<T, Bytes> low, high;
};
template <class T, int Bytes>
ONTO_INLINE wide_lanes<T, Bytes> widen_pack(const pack<T, Bytes>& p) {
  wide_lanes<T, Bytes> w;
  if constexpr (Bytes > 16) {
    simd::widen(w.low.data, half_of<false>(p).data);
    simd::widen(w.high.data, half_of<true>(p).data);
  } else {
    w.low.data = decltype(w.low.data){p.data[0], p.data[1]};
    w.high.data = decltype(w.high.data){p.data[2], p.data[3]};
  }
  return w;
}

/// What every fold of packs has in common.
template <class T, int Bytes>
struct pack_fold_base {
  using lanes = pack<T, Bytes>;
  static constexpr std::int64_t width = static_cast<std::int64_t>(lanes::size);

  /// The first `n` lanes, in [0, width], of a pack, and `others` in the rest.
  static ONTO_INLINE lanes first_lanes(const lanes& p, std::int64_t n, T others) {
    T number[width];
    for (std::int64_t j = 0; j < width; ++j) number[j] = static_cast<T>(j);
    return select(lanes::load_unaligned(number) < lanes(static_cast<T>(n)), p, lanes(others));
  }
};

// ---- sums and products ------------------------------------------------------------------------------------

template <bool Sum>
struct lane_number {
  template <class V>
  static ONTO_INLINE V join(const V& a, const V& b) {
    if constexpr (Sum)
      return a + b;
    else
      return a * b;
  }
};

/// Sums or products of floats, in doubles. Four floats are added before they go there, as in fold.hpp and for its
/// reasons.
template <class T, int Bytes, bool Sum>
struct pack_float_number : pack_fold_base<T, Bytes> {
  using typename pack_fold_base<T, Bytes>::lanes;
  using number = lane_number<Sum>;
  wide_pack<T, Bytes> low = wide_pack<T, Bytes>(Sum ? 0.0 : 1.0), high = low;

  ONTO_INLINE void add(const lanes& p) { add(widen_pack(p)); }
  ONTO_INLINE void add(const lanes& a, const lanes& b, const lanes& c, const lanes& d) {
    if constexpr (Sum)
      add((a + b) + (c + d));
    else
      add(join(join(widen_pack(a), widen_pack(b)), join(widen_pack(c), widen_pack(d))));
  }
  ONTO_INLINE void add_first(const lanes& p, std::int64_t n) { add(this->first_lanes(p, n, Sum ? 0 : 1)); }
  ONTO_INLINE double total() const { return join_lanes<number>(number::join(low, high)); }

 private:
  static ONTO_INLINE wide_lanes<T, Bytes> join(const wide_lanes<T, Bytes>& a, const wide_lanes<T, Bytes>& b) {
    return {number::join(a.low, b.low), number::join(a.high, b.high)};
  }
  ONTO_INLINE void add(const wide_lanes<T, Bytes>& w) {
    low = number::join(low, w.low);
    high = number::join(high, w.high);
  }
};

/// Sums of doubles: each lane has a sum and what rounding has taken from it. What goes there is itself a sum of 16: six
/// roundings in all, at a third of the work.
template <class T, int Bytes>
struct pack_double_sum : pack_fold_base<T, Bytes> {
  using typename pack_fold_base<T, Bytes>::lanes;
  lanes sum = lanes{}, carry = lanes{}, part = lanes{};
  int fours = 0;

  ONTO_INLINE void add(const lanes& x) {  // Knuth's two-sum
    const lanes s = sum + x, added = s - sum;
    carry += (sum - (s - added)) + (x - added);
    sum = s;
  }
  ONTO_INLINE void add(const lanes& a, const lanes& b, const lanes& c, const lanes& d) {
    part += (a + b) + (c + d);
    if (++fours % 4 != 0) return;
    add(part);
    part = lanes{};
  }
  ONTO_INLINE void add_first(const lanes& p, std::int64_t n) { add(this->first_lanes(p, n, 0)); }
  ONTO_INLINE double total() {
    add(part);
    part = lanes{};
    const T s = join_lanes<lane_number<true>>(sum), c = join_lanes<lane_number<true>>(carry);
    return c == c ? s + c : s;  // an infinite sum has no carry: it is infinity less infinity
  }
};

/// Products of doubles.
template <class T, int Bytes>
struct pack_double_product : pack_fold_base<T, Bytes> {
  using typename pack_fold_base<T, Bytes>::lanes;
  lanes first = lanes(T{1}), second = lanes(T{1});

  ONTO_INLINE void add(const lanes& p) { first *= p; }
  ONTO_INLINE void add(const lanes& a, const lanes& b, const lanes& c, const lanes& d) {
    first *= a * b;
    second *= c * d;
  }
  ONTO_INLINE void add_first(const lanes& p, std::int64_t n) { add(this->first_lanes(p, n, 1)); }
  ONTO_INLINE double total() const { return join_lanes<lane_number<false>>(first * second); }
};

// ---- extremes ---------------------------------------------------------------------------------------------

template <bool Least>
struct lane_extreme {
  template <class V>
  static ONTO_INLINE V join(const V& a, const V& b) {
    if constexpr (!std::is_arithmetic_v<V>)
      return Least ? min(b, a) : max(b, a);
    else if constexpr (Least)
      return b < a ? b : a;
    else
      return b > a ? b : a;
  }
};

/// The greatest or the least of what it was given, NaN if there was one. NaN is told apart beside the comparison, which
/// takes half of what to carry it through the comparison would.
template <class T, int Bytes, bool Least>
struct pack_extreme : pack_fold_base<T, Bytes> {
  using typename pack_fold_base<T, Bytes>::lanes;
  using mask = typename lanes::mask;
  static constexpr T identity = number_state < Least ? fold::min : fold::max, T > ::identity;
  lanes first = lanes(identity);
  mask nan = mask(false);

  // In this order x86 passes over a NaN among `x`; processors that do not pass it over say NaN, which is right.
  static ONTO_INLINE lanes better(const lanes& x, const lanes& best) {
    if constexpr (Least)
      return min(x, best);
    else
      return max(x, best);
  }
  ONTO_INLINE void add(const lanes& p) {
    first = better(p, first);
    nan = nan | isnan(p);
  }
  ONTO_INLINE void add(const lanes& a, const lanes& b, const lanes& c, const lanes& d) {
    first = better(better(better(a, b), better(c, d)), first);
    nan = nan | (either_nan(a, b) | either_nan(c, d));
  }
  ONTO_INLINE void add_first(const lanes& p, std::int64_t n) { add(this->first_lanes(p, n, identity)); }
  ONTO_INLINE T total() const {
    if (any(nan)) return std::numeric_limits<T>::quiet_NaN();
    return join_lanes<lane_extreme<Least>>(first);
  }
};

// ---- by fold and type -------------------------------------------------------------------------------------

/// Whether there is a `pack_fold<F, T>`: for sum, mean, prod, min and max of float and double, where there are packs.
template <fold F, class T>
inline constexpr bool folds_packs = has_packs && (std::is_same_v<T, float> ||
                                                  std::is_same_v<T, double>)&&(is_sum(F) || F == fold::prod ||
                                                                               F == fold::min || F == fold::max);

/// Folds packs of `T` by `F`: make one, `add` packs four at a time or singly, take the `total`, which is a
/// `number_state<F, T>::type`. It stays in registers where all of that is inlined into one function.
///
///     pack_fold<fold::max, float> greatest;
///     for (; k + 4 * greatest.width <= n; k += 4 * greatest.width) greatest.add(x(k), x(k + greatest.width), ...);
///     for (; k + greatest.width <= n; k += greatest.width) greatest.add(x(k));
///     if (k < n) greatest.add_first(last, n - k);  // the other lanes may hold anything
///     float m = greatest.total();
template <fold F, class T, int Bytes = vector_bytes>
using pack_fold = std::conditional_t<
    F == fold::min || F == fold::max, pack_extreme<T, Bytes, F == fold::min>,
    std::conditional_t<std::is_same_v<T, float>, pack_float_number<T, Bytes, is_sum(F)>,
                       std::conditional_t<is_sum(F), pack_double_sum<T, Bytes>, pack_double_product<T, Bytes>>>>;

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail

#undef ONTO_SHUFFLES
