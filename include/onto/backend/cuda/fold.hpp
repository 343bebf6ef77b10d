// SPDX-License-Identifier: BSL-1.0
// How folds accumulate: what a partial result is, how elements and other partial results join it, and what comes out.
// Plain arithmetic, the same on host and device.
#pragma once

#include <onto/core/config.hpp>
#include <onto/ops/reduce.hpp>

#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// A sum with the rounding errors of its additions beside it.
/// *Source* Knuth, The Art of Computer Programming 2, 4.2.2, theorem B (the error of one addition).
template <class T>
struct compensated_sum {
  T high, low;

  ONTO_HD static compensated_sum zero() { return {T(0), T(0)}; }
  ONTO_HD void add(T value) {
    const T sum = high + value;
    const T part = sum - high;
    low += (high - (sum - part)) + (value - part);
    high = sum;
  }
  ONTO_HD void add(const compensated_sum& other) {
    add(other.high);
    low += other.low;
  }
  /// The errors of an infinite sum are not numbers; they are left out.
  ONTO_HD T total() const { return high - high == T(0) ? high + low : high; }
};

/// A plain sum in a wider type.
template <class T>
struct plain_sum {
  T high;

  ONTO_HD static plain_sum zero() { return {T(0)}; }
  ONTO_HD void add(T value) { high += value; }
  ONTO_HD void add(const plain_sum& other) { high += other.high; }
  ONTO_HD T total() const { return high; }
};

/// How sums of `T` are kept: as the table of element types says, integers without a sign so that they wrap; double
/// compensated.
template <class T, bool Integer = std::is_integral_v<T>>
struct sum_of {
  using type = plain_sum<element_t<accumulated_as(element_of<T>)>>;
};
template <class T>
struct sum_of<T, true> {
  using type = plain_sum<std::make_unsigned_t<element_t<accumulated_as(element_of<T>)>>>;
};
template <>
struct sum_of<double, false> {
  using type = compensated_sum<double>;
};
template <class T>
using sum_state = typename sum_of<T>::type;

/// How the fold `F` over elements of type `T` accumulates. `state` is trivial, so that it can lie in shared memory.
/// Minima and maxima, any and all are their own states.
template <fold F, class T>
struct accumulation {
  using state = T;
  using result = T;
  ONTO_HD static T empty() { return folding<F>::template identity<T>(); }
  ONTO_HD static void add(T& s, T value, std::int64_t) { s = folding<F>::combine(s, value); }
  ONTO_HD static void merge(T& s, const T& other) { s = folding<F>::combine(s, other); }
  ONTO_HD static T finish(const T& s, std::int64_t) { return s; }
};

template <class T>
struct accumulation<fold::sum, T> {
  using state = sum_state<T>;
  using result = element_t<summed_as(element_of<T>)>;
  using term = decltype(state::high);
  ONTO_HD static state empty() { return state::zero(); }
  ONTO_HD static void add(state& s, T value, std::int64_t) { s.add(static_cast<term>(value)); }
  ONTO_HD static void merge(state& s, const state& other) { s.add(other); }
  ONTO_HD static result finish(const state& s, std::int64_t) { return static_cast<result>(s.total()); }
};

template <class T>
struct accumulation<fold::mean, T> : accumulation<fold::sum, T> {
  using typename accumulation<fold::sum, T>::state;
  using typename accumulation<fold::sum, T>::term;
  ONTO_HD static T finish(const state& s, std::int64_t count) {
    return static_cast<T>(s.total() / static_cast<term>(count));
  }
};

/// Products are kept in the type of sums: they overflow and round no earlier.
template <class T>
struct accumulation<fold::prod, T> {
  using state = decltype(sum_state<T>::high);
  using result = element_t<summed_as(element_of<T>)>;
  ONTO_HD static state empty() { return state(1); }
  ONTO_HD static void add(state& s, T value, std::int64_t) { s *= static_cast<state>(value); }
  ONTO_HD static void merge(state& s, const state& other) { s *= other; }
  ONTO_HD static result finish(const state& s, std::int64_t) { return static_cast<result>(s); }
};

template <class T>
struct indexed_value {
  T value;
  std::int64_t index;  // -1: none yet
};

/// Where the minimum or maximum is. The order in which elements come does not matter.
template <fold F, class T>
struct position_accumulation {
  using state = indexed_value<T>;
  using result = std::int64_t;
  ONTO_HD static state empty() { return {T{}, -1}; }
  ONTO_HD static void add(state& s, T value, std::int64_t index) { merge(s, state{value, index}); }
  ONTO_HD static void merge(state& s, const state& other) {
    if (other.index < 0) return;
    if (s.index < 0 || folding<F>::prefers(other.value, other.index, s.value, s.index)) s = other;
  }
  ONTO_HD static std::int64_t finish(const state& s, std::int64_t) { return s.index; }
};
template <class T>
struct accumulation<fold::argmin, T> : position_accumulation<fold::argmin, T> {};
template <class T>
struct accumulation<fold::argmax, T> : position_accumulation<fold::argmax, T> {};

/// The fold over elements that are stored as `Stored` and accumulate as floats: its result is rounded once.
template <fold F, class Stored>
struct rounded_accumulation : accumulation<F, float> {
  using typename accumulation<F, float>::state;
  using result = std::conditional_t<is_argument(F), std::int64_t, Stored>;
  ONTO_HD static result finish(const state& s, std::int64_t count) {
    return static_cast<result>(accumulation<F, float>::finish(s, count));
  }
};

/// How `F` over elements of type `T` accumulates, in whichever type it does.
template <fold F, class T>
using accumulation_of =
    std::conditional_t<std::is_same_v<T, computed_of<T>>, accumulation<F, T>, rounded_accumulation<F, T>>;

}  // namespace onto::detail
