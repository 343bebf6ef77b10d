// SPDX-License-Identifier: BSL-1.0
// What a reduction means, once for every backend: what a partial result is, how elements and other partial results join
// it, and what comes out. Plain arithmetic, the same on host and device.
#pragma once

#include <onto/core/config.hpp>
#include <onto/ops/reduce.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace onto::detail {

/// How a reduction over elements of type `value` accumulates. `state` is trivial: it can lie in any memory, and
/// partial results of other threads are copies of it.
///
/// *Laws* `empty()` merged into a state, or a state into it, is that state. `merge` is associative: exactly, or for
/// sums and products of floating numbers to rounding. `add(s, x, i)` is `merge` of the state that only has `x`, at
/// position `i`. In which order elements and states come changes nothing but rounding. `finish(empty(), 0)` is the
/// result of no elements: 0 of a sum, the lowest value of a maximum, NaN of a mean, -1 of a position.
template <class A>
concept accumulates = std::is_trivially_copyable_v<typename A::state> &&
    requires(typename A::state& s, const typename A::state& other, typename A::value x, std::int64_t position,
             std::int64_t count) {
  { A::empty() } -> std::same_as<typename A::state>;
  { A::add(s, x, position) } -> std::same_as<void>;
  { A::merge(s, other) } -> std::same_as<void>;
  { A::finish(other, count) } -> std::same_as<typename A::result>;
};

ONTO_INLINE constexpr bool is_sum(fold f) { return f == fold::sum || f == fold::mean; }

/// Whether `b` is the answer of a minimum or maximum rather than `a`: a NaN is, before any number, and stays.
template <fold F, class T>
ONTO_HD ONTO_INLINE constexpr bool is_more_extreme(T b, T a) {
  constexpr bool least = F == fold::min || F == fold::argmin;
  // Without branches, so that loops over it become vectors.
  if constexpr (std::is_floating_point_v<T>)
    return (static_cast<int>(least ? a <= b : a >= b) | static_cast<int>(a != a)) == 0;
  else
    return least ? b < a : b > a;
}

/// What every element is at least as extreme as.
template <fold F, class T>
constexpr T find_least_extreme() {
  using limits = std::numeric_limits<T>;
  if (F == fold::min || F == fold::argmin) return limits::has_infinity ? limits::infinity() : limits::max();
  return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
}
template <fold F, class T>
inline constexpr T least_extreme = find_least_extreme<F, T>();

/// What sums and products of `T` are kept in: as the table of element types says, but integers without a sign, so that
/// they wrap.
template <class T, bool Integer = std::is_integral_v<T>>
struct sum_state_of {
  using type = element_t<accumulated_as(element_of<T>)>;
};
template <class T>
struct sum_state_of<T, true> {
  using type = std::make_unsigned_t<element_t<accumulated_as(element_of<T>)>>;
};

/// Reductions whose partial results are numbers: how two of them join, and the number that changes nothing.
template <fold F, class T>
struct number_state {  // a minimum or maximum
  using type = T;
  using result = T;
  static constexpr T identity = least_extreme<F, T>;
  ONTO_HD ONTO_INLINE static constexpr T combine(T a, T b) { return is_more_extreme<F>(b, a) ? b : a; }
  ONTO_HD ONTO_INLINE static constexpr T finish(T a, std::int64_t) { return a; }
};
template <fold F, class T>
  requires(is_sum(F) || F == fold::prod)
struct number_state<F, T> {
  using type = typename sum_state_of<T>::type;
  using result = element_t<F == fold::mean ? element_of<T> : summed_as(element_of<T>)>;
  static constexpr type identity = F == fold::prod ? 1 : 0;
  ONTO_HD ONTO_INLINE static constexpr type combine(type a, type b) { return F == fold::prod ? a * b : a + b; }
  ONTO_HD ONTO_INLINE static constexpr result finish(type a, std::int64_t count) {
    if constexpr (F == fold::mean)
      return static_cast<result>(a / static_cast<type>(count));
    else
      return static_cast<result>(a);
  }
};
template <fold F, class T>
  requires(F == fold::any || F == fold::all)
struct number_state<F, T> {
  using type = unsigned char;
  using result = T;
  static constexpr type identity = F == fold::all ? 1 : 0;
  ONTO_HD ONTO_INLINE static constexpr type combine(type a, type b) {
    return static_cast<type>(F == fold::all ? a & b : a | b);
  }
  ONTO_HD ONTO_INLINE static constexpr T finish(type a, std::int64_t) { return a != 0; }
};

/// A partial result that is a number.
template <class T>
struct partial_result {
  T number;
};

/// How the reduction `F` over elements of type `T` accumulates.
template <fold F, class T>
struct accumulator {
  using value = T;
  using numbers = number_state<F, T>;
  using state = partial_result<typename numbers::type>;
  using result = typename numbers::result;

  ONTO_HD ONTO_INLINE static constexpr state empty() { return {numbers::identity}; }
  ONTO_HD ONTO_INLINE static constexpr void add(state& s, T x, std::int64_t) {
    s.number = numbers::combine(s.number, static_cast<typename numbers::type>(x));
  }
  ONTO_HD ONTO_INLINE static constexpr void merge(state& s, const state& other) {
    s.number = numbers::combine(s.number, other.number);
  }
  ONTO_HD ONTO_INLINE static constexpr result finish(const state& s, std::int64_t count) {
    return numbers::finish(s.number, count);
  }
};

/// A sum with the rounding errors of its additions beside it.
/// *Source* Knuth, The Art of Computer Programming 2, 4.2.2, theorem B (the error of one addition).
struct compensated_sum {
  double high, low;

  ONTO_HD ONTO_INLINE constexpr void add(double x) {
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  /// The errors of an infinite sum are not numbers; they are left out.
  ONTO_HD ONTO_INLINE constexpr double total() const { return high - high == 0.0 ? high + low : high; }
};

/// Sums of doubles: no wider type keeps them.
template <fold F>
  requires(is_sum(F))
struct accumulator<F, double> {
  using value = double;
  using state = compensated_sum;
  using result = double;

  ONTO_HD ONTO_INLINE static constexpr state empty() { return {0.0, 0.0}; }
  ONTO_HD ONTO_INLINE static constexpr void add(state& s, double x, std::int64_t) { s.add(x); }
  ONTO_HD ONTO_INLINE static constexpr void merge(state& s, const state& other) {
    s.add(other.high);
    s.low += other.low;
  }
  ONTO_HD ONTO_INLINE static constexpr double finish(const state& s, std::int64_t count) {
    return F == fold::mean ? s.total() / static_cast<double>(count) : s.total();
  }
};

template <class T>
struct indexed_value {
  T value;
  std::int64_t index;  // -1: none yet
};

/// Where the minimum or maximum is: of equals the first, and the first NaN before any number.
template <fold F, class T>
  requires(is_argument(F))
struct accumulator<F, T> {
  using value = T;
  using state = indexed_value<T>;
  using result = std::int64_t;

  ONTO_HD ONTO_INLINE static constexpr state empty() { return {least_extreme<F, T>, -1}; }
  ONTO_HD ONTO_INLINE static constexpr void add(state& s, T x, std::int64_t position) { merge(s, {x, position}); }
  ONTO_HD ONTO_INLINE static constexpr void merge(state& s, const state& other) {
    if (other.index < 0) return;
    if (s.index < 0 || precedes(other, s)) s = other;
  }
  ONTO_HD ONTO_INLINE static constexpr result finish(const state& s, std::int64_t) { return s.index; }

 private:
  ONTO_HD ONTO_INLINE static constexpr bool precedes(const state& a, const state& b) {
    return a.index < b.index ? !is_more_extreme<F>(b.value, a.value) : is_more_extreme<F>(a.value, b.value);
  }
};

/// The reduction of elements that are stored as `Stored` and accumulate as what they are computed in: the result is
/// rounded once.
template <fold F, class Stored>
struct rounded_accumulator : accumulator<F, computed_of<Stored>> {
  using exact = accumulator<F, computed_of<Stored>>;
  using typename exact::state;
  using result = std::conditional_t<is_argument(F), std::int64_t, Stored>;
  ONTO_HD ONTO_INLINE static constexpr result finish(const state& s, std::int64_t count) {
    return static_cast<result>(exact::finish(s, count));
  }
};

/// How `F` over stored elements of type `T` accumulates.
template <fold F, class T>
using accumulator_of =
    std::conditional_t<std::is_same_v<T, computed_of<T>>, accumulator<F, T>, rounded_accumulator<F, T>>;

}  // namespace onto::detail
