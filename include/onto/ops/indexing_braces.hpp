// SPDX-License-Identifier: BSL-1.0
// Numbers and updates written where elements are taken by number: `take<1>(x, 0)`, `take<1>(x, 0_c)`,
// `take<0>(x, {0, 2})`, `scatter(x, {0, 2}, {1, 2.5})`.
#pragma once
#pragma GCC system_header  // so that messages leave out how its macros expand

#include <onto/expr/constant.hpp>
#include <onto/ops/arguments.hpp>
#include <onto/ops/indexing.hpp>
#include <onto/ops/rearrange.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto {

// Numbers in braces are a constant: `take<0>(x, {0, 2})`.
#define ONTO_TAKES_NUMBERS(word)                                      \
  template <int... Axis, class X, std::integral Index, std::size_t N> \
  auto word(X&& x, const Index(&numbers)[N]) {                        \
    return word<Axis...>(static_cast<X&&>(x), constant(numbers));     \
  }
ONTO_TAKES_NUMBERS(take)
ONTO_TAKES_NUMBERS(gather)
ONTO_TAKES_NUMBERS(embedding)
ONTO_TAKES_NUMBERS(take_along_axis)
ONTO_TAKES_NUMBERS(dynamic_slice)
ONTO_TAKES_NUMBERS(segment_sum)
ONTO_TAKES_NUMBERS(segment_max)
ONTO_TAKES_NUMBERS(segment_min)
#undef ONTO_TAKES_NUMBERS
// An axis beside them stands in <>: `take<1>(x, {0, 2})`.
#define ONTO_TAKES_NO_AXIS(word, count)                                              \
  template <int... Axis, class X, std::integral Index, std::size_t N, class... More> \
    requires(sizeof...(More) == count)                                               \
  auto word(const X&, const Index(&)[N], const More&...) {                           \
    return typename detail::axis_is_an_argument<X, More...>::result{};               \
  }
ONTO_TAKES_NO_AXIS(take, 1)
ONTO_TAKES_NO_AXIS(gather, 1)
ONTO_TAKES_NO_AXIS(embedding, 1)
ONTO_TAKES_NO_AXIS(take_along_axis, 1)
ONTO_TAKES_NO_AXIS(segment_sum, 1)
ONTO_TAKES_NO_AXIS(segment_max, 1)
ONTO_TAKES_NO_AXIS(segment_min, 1)
ONTO_TAKES_NO_AXIS(scatter, 2)
ONTO_TAKES_NO_AXIS(scatter_add, 2)
#undef ONTO_TAKES_NO_AXIS

// So are weights, which are as many as the numbers.
template <int Count, class Index, detail::scalar_value W, std::size_t N>
auto bincount(Index&& numbers, const W (&weights)[N]) {
  return bincount<Count>(static_cast<Index&&>(numbers), constant(weights));
}

// And what numbers count from: `take<0>({1, 2, 3}, i)`.
template <int... Axis, detail::scalar_value X, std::size_t N, expression Index>
auto take(const X (&x)[N], const Index& numbers) {
  return take<Axis...>(constant(x), numbers);
}

// One number is one of rank 0, as NumPy has it: `take<1>(x, 0)` is the first column.
#define ONTO_TAKES_A_NUMBER(word)                                         \
  template <int... Axis, expression E, std::integral Index>               \
  auto word(const E& x, const Index& number) {                            \
    return word<Axis...>(x, constant(static_cast<std::int64_t>(number))); \
  }
ONTO_TAKES_A_NUMBER(take)
ONTO_TAKES_A_NUMBER(gather)
ONTO_TAKES_A_NUMBER(embedding)
#undef ONTO_TAKES_A_NUMBER

namespace detail {
template <class E, class Index>
struct there_is_no_such_element : mistake {
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(ok == true,
                "[onto.shape] take: the axis has no element of that number; they count from 0, from the end c<-1>");
};
}  // namespace detail

/// A number in the type is a part of `x` instead, a view that kernels read where it is: `take<1>(x, 0_c)` is the first
/// column, `take<1>(x, c<-1>)` the last; without an axis it counts through all elements. *Mandates* an element there,
/// where the compiler knows the extent.
template <int Axis, expression E, detail::number_in_type Index>
  requires std::integral<decltype(Index::get())>
constexpr auto take(const E& x, const Index&) {
  constexpr auto at = static_cast<int>(Index::get());
  constexpr int axis = detail::axis_in<Axis, E>;
  constexpr int extent = E::facts.shape.rank > 0 ? E::facts.shape[axis] : dyn;
  if constexpr (extent != dyn && (at >= extent || at < -extent))
    return typename detail::there_is_no_such_element<E, Index>::result{};
  else
    return detail::element_along<axis, at>(x);
}
template <expression E, detail::number_in_type Index>
  requires std::integral<decltype(Index::get())>
constexpr auto take(const E& x, const Index& number) { return take<0>(detail::flattened(x), number); }

namespace detail {
/// Numbers in braces as elements of another operand's type.
template <expression E, class X, std::size_t N>
auto constant_beside(const X (&x)[N]) {
  tensor<typename E::element_type, static_cast<int>(N)> t;
  for (std::size_t k = 0; k < N; ++k) t.data()[k] = element_from<typename E::element_type>(x[k]);
  return constant(t);
}
}  // namespace detail
template <expression S, detail::scalar_value X, std::same_as<right_side_t>... Side>
auto searchsorted(const S& sorted, X x, Side... side) {
  return searchsorted(sorted, constant(detail::element_from<typename S::element_type>(x)), side...);
}
template <expression S, detail::scalar_value X, std::size_t N, std::same_as<right_side_t>... Side>
auto searchsorted(const S& sorted, const X (&x)[N], Side... side) {
  return searchsorted(sorted, detail::constant_beside<S>(x), side...);
}
template <expression E, detail::scalar_value X, std::size_t N, std::same_as<right_side_t>... Side>
auto searchsorted(const X (&sorted)[N], const E& x, Side... side) {
  return searchsorted(detail::constant_beside<E>(sorted), x, side...);
}

namespace detail {
template <class X>
using element_in = typename std::remove_cvref_t<decltype(leaf_of(std::declval<X>()))>::element_type;
/// Updates of `x` in braces.
template <class X, int Rank>
using listed_beside = typename braces<element_in<X>, Rank>::list;
}  // namespace detail

// So are updates: `scatter(x, {0, 2}, {1, 2.5})`, `update_slice(x, {{1, 2}}, {0, 0})`. A list has no type to be
// deduced, so each way of writing one is an overload.
#define ONTO_UPDATES_IN_BRACES(...) detail::constant_in_braces<detail::element_in<X>>(shape<__VA_ARGS__>{}, updates)
#define ONTO_SCATTERS_UPDATES(word, Rank, ...)                                                            \
  template <class X, class Index>                                                                         \
  auto word(X&& x, Index&& numbers, detail::listed_beside<X, Rank> updates) {                             \
    return word(static_cast<X&&>(x), static_cast<Index&&>(numbers), ONTO_UPDATES_IN_BRACES(__VA_ARGS__)); \
  }                                                                                                       \
  template <class X, std::integral Index, std::size_t N>                                                  \
  auto word(X&& x, const Index(&numbers)[N], detail::listed_beside<X, Rank> updates) {                    \
    return word(static_cast<X&&>(x), constant(numbers), ONTO_UPDATES_IN_BRACES(__VA_ARGS__));             \
  }
#define ONTO_SCATTERS_AT_NUMBERS(word)                                              \
  ONTO_SCATTERS_UPDATES(word, 1, dyn)                                               \
  ONTO_SCATTERS_UPDATES(word, 2, dyn, dyn)                                          \
  template <class X, std::integral Index, std::size_t N, class U>                   \
  auto word(X&& x, const Index(&numbers)[N], U&& updates) {                         \
    return word(static_cast<X&&>(x), constant(numbers), static_cast<U&&>(updates)); \
  }
ONTO_SCATTERS_AT_NUMBERS(scatter)
ONTO_SCATTERS_AT_NUMBERS(scatter_add)
#undef ONTO_SCATTERS_AT_NUMBERS
#undef ONTO_SCATTERS_UPDATES

#define ONTO_UPDATES_A_SLICE(Rank, ...)                                                                          \
  template <class X, class Index>                                                                                \
  auto update_slice(X&& x, detail::listed_beside<X, Rank> updates, Index&& starts) {                             \
    return update_slice(static_cast<X&&>(x), ONTO_UPDATES_IN_BRACES(__VA_ARGS__), static_cast<Index&&>(starts)); \
  }                                                                                                              \
  template <class X, std::integral Index, std::size_t N>                                                         \
  auto update_slice(X&& x, detail::listed_beside<X, Rank> updates, const Index(&starts)[N]) {                    \
    return update_slice(static_cast<X&&>(x), ONTO_UPDATES_IN_BRACES(__VA_ARGS__), constant(starts));             \
  }
ONTO_UPDATES_A_SLICE(1, dyn)
ONTO_UPDATES_A_SLICE(2, dyn, dyn)
#undef ONTO_UPDATES_A_SLICE
#undef ONTO_UPDATES_IN_BRACES
template <class X, class U, std::integral Index, std::size_t N>
auto update_slice(X&& x, U&& update, const Index (&starts)[N]) {
  return update_slice(static_cast<X&&>(x), static_cast<U&&>(update), constant(starts));
}

}  // namespace onto
