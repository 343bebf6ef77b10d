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

// Packs differ between files for nvcc and files for the host compiler.
namespace onto::detail {
inline namespace ONTO_ABI {

// ---- lanes of a pack as smaller vectors, without a way through memory -------------------------------------

#if defined(__GNUC__)
template <class T, int N>
struct lane_vector {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};

#if defined(__has_builtin) && !defined(__CUDACC__)
#if __has_builtin(__builtin_shufflevector)
#define ONTO_SHUFFLES
template <int N, bool Upper, class V, int... K>
ONTO_INLINE auto shuffled(const V& v, std::integer_sequence<int, K...>) {
  return __builtin_shufflevector(v, v, (K + (Upper ? N / 2 : 0))...);
}
#endif
#endif

/// Half of a vector's lanes: the lower, or the `Upper`.
template <class T, int N, bool Upper>
ONTO_INLINE typename lane_vector<T, N / 2>::type half_of(const typename lane_vector<T, N>::type& v) {
#if defined(ONTO_SHUFFLES)  // where a copy of the half goes through memory
  return shuffled<N, Upper>(v, std::make_integer_sequence<int, N / 2>{});
#else
  typename lane_vector<T, N / 2>::type half;
  std::memcpy(&half, reinterpret_cast<const char*>(&v) + (Upper ? sizeof half : 0), sizeof half);
  return half;
#endif
}

/// All lanes of a vector in one value, by halves.
template <class Join, class T, int N>
ONTO_INLINE T join_vector(const typename lane_vector<T, N>::type& v) {
  if constexpr (N * sizeof(T) > 16)  // smaller vectors are not what registers hold
    return join_vector<Join, T, N / 2>(Join::join(half_of<T, N, false>(v), half_of<T, N, true>(v)));
  else if constexpr (N == 4)
    return Join::join(Join::join(T{v[0]}, T{v[1]}), Join::join(T{v[2]}, T{v[3]}));
  else
    return Join::join(T{v[0]}, T{v[1]});
}
#endif

/// All lanes of a pack in one value.
template <class Join, class T>
ONTO_INLINE T join_lanes(const pack<T>& p) {
  constexpr int n = static_cast<int>(pack<T>::size);
#if defined(__GNUC__)
  typename lane_vector<T, n>::type v;
  std::memcpy(&v, &p.data, sizeof v);
  return join_vector<Join, T, n>(v);
#else
  T lane[n];
  p.store_unaligned(lane);
  for (int width = n / 2; width > 0; width /= 2)
    for (int j = 0; j < width; ++j) lane[j] = Join::join(lane[j], lane[j + width]);
  return lane[0];
#endif
}

// The double of a template, so that nothing here is looked at where there are no packs.
template <class T>
using wide_pack = pack<std::conditional_t<std::is_same_v<T, float>, double, T>>;

/// A pack of floats as two of doubles.
template <class T>
struct wide_lanes {
  wide_pack<T> low, high;
};
template <class T>
ONTO_INLINE wide_lanes<T> widen_pack(const pack<T>& p) {
  constexpr int n = static_cast<int>(pack<T>::size);
  wide_lanes<T> w;
#if defined(__GNUC__)
  using doubles = typename lane_vector<double, n / 2>::type;
  typename lane_vector<T, n>::type v;
  std::memcpy(&v, &p.data, sizeof v);
#if defined(__AVX512F__) && defined(XSIMD_VERSION_MAJOR) && !defined(__CUDACC__)
  // g++ 12 converts four at a time.
  const auto low = _mm512_cvtps_pd(half_of<T, n, false>(v)), high = _mm512_cvtps_pd(half_of<T, n, true>(v));
  static_assert(sizeof low == sizeof(doubles));
#else
  const doubles low = __builtin_convertvector((half_of<T, n, false>(v)), doubles),
                high = __builtin_convertvector((half_of<T, n, true>(v)), doubles);
#endif
  std::memcpy(&w.low.data, &low, sizeof low);
  std::memcpy(&w.high.data, &high, sizeof high);
#else
  T lane[n];
  double wide[n];
  p.store_unaligned(lane);
  for (int j = 0; j < n; ++j) wide[j] = static_cast<double>(lane[j]);
  w.low = wide_pack<T>::load_unaligned(wide);
  w.high = wide_pack<T>::load_unaligned(wide + n / 2);
#endif
  return w;
}

/// What every fold of packs has in common.
template <class T>
struct pack_fold_base {
  using lanes = pack<T>;
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
template <class T, bool Sum>
struct pack_float_number : pack_fold_base<T> {
  using typename pack_fold_base<T>::lanes;
  using number = lane_number<Sum>;
  wide_pack<T> low = wide_pack<T>(Sum ? 0.0 : 1.0), high = low;

  ONTO_INLINE void add(const lanes& p) { add(widen_pack<T>(p)); }
  ONTO_INLINE void add(const lanes& a, const lanes& b, const lanes& c, const lanes& d) {
    if constexpr (Sum)
      add((a + b) + (c + d));
    else
      add(join(join(widen_pack<T>(a), widen_pack<T>(b)), join(widen_pack<T>(c), widen_pack<T>(d))));
  }
  ONTO_INLINE void add_first(const lanes& p, std::int64_t n) { add(this->first_lanes(p, n, Sum ? 0 : 1)); }
  ONTO_INLINE double total() const { return join_lanes<number, double>(number::join(low, high)); }

 private:
  static ONTO_INLINE wide_lanes<T> join(const wide_lanes<T>& a, const wide_lanes<T>& b) {
    return {number::join(a.low, b.low), number::join(a.high, b.high)};
  }
  ONTO_INLINE void add(const wide_lanes<T>& w) {
    low = number::join(low, w.low);
    high = number::join(high, w.high);
  }
};

/// Sums of doubles: each lane has a sum and what rounding has taken from it. What goes there is itself a sum of 16: six
/// roundings in all, at a third of the work.
template <class T>
struct pack_double_sum : pack_fold_base<T> {
  using typename pack_fold_base<T>::lanes;
  lanes sum = lanes(T{0}), carry = lanes(T{0}), part = lanes(T{0});
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
    part = lanes(T{0});
  }
  ONTO_INLINE void add_first(const lanes& p, std::int64_t n) { add(this->first_lanes(p, n, 0)); }
  ONTO_INLINE double total() {
    add(part);
    part = lanes(T{0});
    const T s = join_lanes<lane_number<true>, T>(sum), c = join_lanes<lane_number<true>, T>(carry);
    return c == c ? s + c : s;  // an infinite sum has no carry: it is infinity less infinity
  }
};

/// Products of doubles.
template <class T>
struct pack_double_product : pack_fold_base<T> {
  using typename pack_fold_base<T>::lanes;
  lanes first = lanes(T{1}), second = lanes(T{1});

  ONTO_INLINE void add(const lanes& p) { first *= p; }
  ONTO_INLINE void add(const lanes& a, const lanes& b, const lanes& c, const lanes& d) {
    first *= a * b;
    second *= c * d;
  }
  ONTO_INLINE void add_first(const lanes& p, std::int64_t n) { add(this->first_lanes(p, n, 1)); }
  ONTO_INLINE double total() const { return join_lanes<lane_number<false>, T>(first * second); }
};

// ---- extremes ---------------------------------------------------------------------------------------------

template <bool Least>
struct lane_extreme {
  template <class V>
  static ONTO_INLINE V join(const V& a, const V& b) {
    if constexpr (Least)
      return b < a ? b : a;
    else
      return b > a ? b : a;
  }
};

/// The greatest or the least of what it was given, NaN if there was one. NaN is told apart beside the comparison, which
/// takes half of what to carry it through the comparison would.
template <class T, bool Least>
struct pack_extreme : pack_fold_base<T> {
  using typename pack_fold_base<T>::lanes;
  using mask = typename lanes::batch_bool_type;
  static constexpr T identity = number_state < Least ? fold::min : fold::max, T > ::identity;
  lanes first = lanes(identity);
  mask nan = mask(false);

  /// Where one of two packs is NaN.
  static ONTO_INLINE mask either_nan(const lanes& a, const lanes& b) {
#if defined(__AVX512F__) && defined(XSIMD_VERSION_MAJOR) && !defined(__CUDACC__)
    // One comparison, where g++ makes two and an operation on masks, which these processors do one at a time.
    if constexpr (sizeof(T) == 4)
      return mask(_mm512_cmp_ps_mask(a.data, b.data, _CMP_UNORD_Q));
    else
      return mask(_mm512_cmp_pd_mask(a.data, b.data, _CMP_UNORD_Q));
#else
    return isnan(a) | isnan(b);
#endif
  }
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
    return join_lanes<lane_extreme<Least>, T>(first);
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
template <fold F, class T>
using pack_fold =
    std::conditional_t<F == fold::min || F == fold::max, pack_extreme<T, F == fold::min>,
                       std::conditional_t<std::is_same_v<T, float>, pack_float_number<T, is_sum(F)>,
                                          std::conditional_t<is_sum(F), pack_double_sum<T>, pack_double_product<T>>>>;

}  // namespace ONTO_ABI

/// The total of packs joins what `accumulator<F, T>` has.
template <fold F, class T>
ONTO_INLINE void add_total(void* state, typename number_state<F, T>::type total) {
  auto& s = *static_cast<typename accumulator<F, T>::state*>(state);
  if constexpr (std::is_same_v<decltype(s), compensated_sum&>)
    s.add(total);
  else
    s.number = number_state<F, T>::combine(s.number, total);
}

}  // namespace onto::detail

#undef ONTO_SHUFFLES
