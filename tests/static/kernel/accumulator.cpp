// SPDX-License-Identifier: BSL-1.0
// What reductions mean: the laws of their accumulators, asked of every reduction and element type by the compiler.
#include <onto/kernel/accumulator.hpp>

#include <initializer_list>
#include <limits>

using namespace onto;
using namespace onto::detail;

namespace {

template <class T>
constexpr T nan = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();

#if defined(__CUDACC__)
constexpr bool compares_nan = false;  // no constant expression of nvcc 13 asks whether a NaN is less
#else
constexpr bool compares_nan = true;
#endif

template <class T>
constexpr bool same(T a, T b) {
  return a == b || (a != a && b != b);
}
template <class T>
constexpr bool same(const partial_result<T>& a, const partial_result<T>& b) {
  return same(a.number, b.number);
}
constexpr bool same(const compensated_sum& a, const compensated_sum& b) { return same(a.total(), b.total()); }
template <class T>
constexpr bool same(const indexed_value<T>& a, const indexed_value<T>& b) {
  return a.index == b.index && (a.index < 0 || same(a.value, b.value));
}

template <class A>
constexpr typename A::state one(typename A::value x, std::int64_t position) {
  typename A::state s = A::empty();
  A::add(s, x, position);
  return s;
}
template <class A>
constexpr typename A::state merged(typename A::state s, const typename A::state& other) {
  A::merge(s, other);
  return s;
}

/// The laws, over values whose sums and products are exact. `Compares`: with a NaN and an infinity among floating ones,
/// which no constant expression adds. The positions are not in order.
template <class A, bool Compares = false>
constexpr bool keeps_laws() {
  using T = typename A::value;
  static_assert(accumulates<A>);
  constexpr bool all = Compares && compares_nan && std::is_floating_point_v<T>;
  const T values[] = {T(1), T(3), T(2), T(3), all ? inf<T> : T(0), T(1), all ? nan<T> : T(1)};
  typename A::state states[8] = {A::empty()};
  for (int k = 0; k < 7; ++k) states[k + 1] = one<A>(values[k], (k * 3) % 7);
  for (const auto& a : states) {
    if (!same(merged<A>(A::empty(), a), a) || !same(merged<A>(a, A::empty()), a)) return false;
    for (const auto& b : states) {
      if (!same(merged<A>(a, b), merged<A>(b, a))) return false;
      for (const auto& c : states)
        if (!same(merged<A>(merged<A>(a, b), c), merged<A>(a, merged<A>(b, c)))) return false;
    }
    for (int k = 0; k < 7; ++k) {
      typename A::state s = a;
      A::add(s, values[k], (k * 3) % 7);
      if (!same(s, merged<A>(a, one<A>(values[k], (k * 3) % 7)))) return false;
    }
  }
  return true;
}

template <class T>
constexpr bool numbers_keep_laws() {
  static_assert(keeps_laws<accumulator_of<fold::sum, T>>());
  static_assert(keeps_laws<accumulator_of<fold::prod, T>>());
  static_assert(keeps_laws<accumulator_of<fold::min, T>, true>());
  static_assert(keeps_laws<accumulator_of<fold::max, T>, true>());
  static_assert(keeps_laws<accumulator_of<fold::argmin, T>, true>());
  static_assert(keeps_laws<accumulator_of<fold::argmax, T>, true>());
  return true;
}
static_assert(numbers_keep_laws<float>() && numbers_keep_laws<double>());
static_assert(numbers_keep_laws<std::int32_t>() && numbers_keep_laws<std::int64_t>());
static_assert(numbers_keep_laws<std::int8_t>() && numbers_keep_laws<std::uint8_t>());
static_assert(numbers_keep_laws<std::int16_t>() && numbers_keep_laws<std::uint16_t>());
static_assert(numbers_keep_laws<std::uint32_t>() && numbers_keep_laws<std::uint64_t>());
static_assert(keeps_laws<accumulator_of<fold::mean, float>>() && keeps_laws<accumulator_of<fold::mean, double>>());
static_assert(keeps_laws<accumulator_of<fold::any, bool>>() && keeps_laws<accumulator_of<fold::all, bool>>());
static_assert(accumulates<accumulator_of<fold::sum, half>> && accumulates<accumulator_of<fold::mean, bfloat16>> &&
              accumulates<accumulator_of<fold::argmax, half>>);

template <fold F, class T>
constexpr auto nothing = accumulator_of<F, T>::finish(accumulator_of<F, T>::empty(), 0);

// Of no elements.
static_assert(nothing<fold::sum, float> == 0.0f);
static_assert(nothing<fold::sum, double> == 0.0);
static_assert(nothing<fold::prod, std::int32_t> == 1);
static_assert(nothing<fold::max, float> == -inf<float>);
static_assert(nothing<fold::max, std::int32_t> == std::numeric_limits<std::int32_t>::lowest());
static_assert(nothing<fold::min, double> == inf<double>);
static_assert(nothing<fold::min, std::uint8_t> == 255);
static_assert(!nothing<fold::any, bool>);
static_assert(nothing<fold::all, bool>);
static_assert(nothing<fold::argmin, float> == -1);

template <fold F, class T>
constexpr auto of(std::initializer_list<T> values) {
  using A = accumulator<F, T>;
  typename A::state s = A::empty();
  std::int64_t position = 0;
  for (T x : values) A::add(s, x, position++);
  return A::finish(s, position);
}

// Sums of integers wrap; those of narrow ones have 64 bits.
static_assert(of<fold::sum, std::int32_t>({std::numeric_limits<std::int32_t>::max(), 1}) ==
              std::numeric_limits<std::int32_t>::lowest());
static_assert(of<fold::sum, std::int8_t>({127, 127, -1}) == 253);
static_assert(of<fold::prod, std::uint16_t>({65535, 65535}) == 4294836225u);
static_assert(std::is_same_v<accumulator<fold::sum, std::uint8_t>::result, std::uint64_t>);

// Sums of floats are kept in double, sums of doubles with their errors.
static_assert(of<fold::sum, float>({3e38f, 3e38f, -3e38f}) == 3e38f);
static_assert(of<fold::sum, double>({1.0, 1e100, 1.0, -1e100}) == 2.0);
static_assert(of<fold::mean, double>({1e100, 3.0, -1e100}) == 1.0);
static_assert(of<fold::mean, float>({1.0f, 2.0f, 6.0f}) == 3.0f);
static_assert(sizeof(accumulator<fold::sum, float>::state) == 8 && sizeof(accumulator<fold::sum, double>::state) == 16);

// A NaN is the minimum and the maximum.
static_assert(!compares_nan || same(of<fold::max, float>({1.0f, nan<float>, 3.0f}), nan<float>));
static_assert(!compares_nan || same(of<fold::min, double>({nan<double>, -inf<double>}), nan<double>));
static_assert(of<fold::min, std::int32_t>({2, -3}) == -3);
static_assert(of<fold::max, double>({-inf<double>, -inf<double>}) == -inf<double>);

// Of equals the first, and the first NaN before any number.
static_assert(of<fold::argmax, float>({1.0f, 2.0f, 2.0f}) == 1);
static_assert(of<fold::argmin, std::int32_t>({1, 0, 0, 2}) == 1);
static_assert(!compares_nan || of<fold::argmax, float>({1.0f, nan<float>, 9.0f, nan<float>}) == 1);
static_assert(!compares_nan || of<fold::argmin, double>({nan<double>, -9.0}) == 0);
static_assert(of<fold::argmax, float>({-inf<float>, -inf<float>}) == 0);

// One is enough, or one is too few.
static_assert(of<fold::any, bool>({false, true, false}) && !of<fold::any, bool>({false, false}));
static_assert(of<fold::all, bool>({true, true}) && !of<fold::all, bool>({true, false}));

// Products of numbers in 16 bits are rounded once.
static_assert(std::is_same_v<accumulator_of<fold::sum, half>::result, half>);
static_assert(std::is_same_v<accumulator_of<fold::argmin, bfloat16>::result, std::int64_t>);
static_assert(std::is_same_v<accumulator_of<fold::sum, half>::state, partial_result<double>>);

}  // namespace

// What lacks the law's functions is no accumulator. Not in the namespace above: nvcc warns of functions that nobody
// calls.
struct no_merge {
  using value = float;
  using state = float;
  using result = float;
  static float empty() { return 0; }
  static void add(float&, float, std::int64_t) {}
  static float finish(const float&, std::int64_t) { return 0; }
};
static_assert(!accumulates<no_merge>);
