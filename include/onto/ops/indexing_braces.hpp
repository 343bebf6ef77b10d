// SPDX-License-Identifier: BSL-1.0
// Numbers and updates written where elements are taken by number: `take<1>(x, 0)`, `take<0>(x, {0, 2})`,
// `scatter(x, {0, 2}, {1, 2.5})`.
#pragma once

#include <onto/expr/constant.hpp>
#include <onto/ops/indexing.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto {

// Numbers in braces are a constant: `take<0>(x, {0, 2})`.
#define ONTO_TAKES_NUMBERS(word)                                  \
  template <int... Axis, class X, std::integral I, std::size_t N> \
  auto word(X&& x, const I(&numbers)[N]) {                        \
    return word<Axis...>(static_cast<X&&>(x), constant(numbers)); \
  }
ONTO_TAKES_NUMBERS(take)
ONTO_TAKES_NUMBERS(gather)
ONTO_TAKES_NUMBERS(embedding)
ONTO_TAKES_NUMBERS(take_along_axis)
ONTO_TAKES_NUMBERS(dynamic_slice)
ONTO_TAKES_NUMBERS(segment_sum)
#undef ONTO_TAKES_NUMBERS

// One number is one of rank 0, as NumPy has it: `take<1>(x, 0)` is the first column.
#define ONTO_TAKES_A_NUMBER(word)                                         \
  template <int... Axis, expression E, std::integral I>                   \
  auto word(const E& x, const I& number) {                                \
    return word<Axis...>(x, constant(static_cast<std::int64_t>(number))); \
  }
ONTO_TAKES_A_NUMBER(take)
ONTO_TAKES_A_NUMBER(gather)
ONTO_TAKES_A_NUMBER(embedding)
#undef ONTO_TAKES_A_NUMBER
template <expression S, detail::scalar_value X>
auto searchsorted(const S& sorted, X x) {
  return searchsorted(sorted, constant(detail::element_from<typename S::element_type>(x)));
}
template <expression S, detail::scalar_value X>
auto searchsorted(const S& sorted, X x, right_side_t side) {
  return searchsorted(sorted, constant(detail::element_from<typename S::element_type>(x)), side);
}

namespace detail {
template <class X>
using element_in = typename std::remove_cvref_t<decltype(leaf_of(std::declval<X>()))>::element_type;
/// Updates of `x` in braces.
template <class X, int Rank>
using listed_beside = typename braces<element_in<X>, Rank>::list;
}  // namespace detail

// So are updates: `scatter(x, {0, 2}, {1, 2.5})`, `update_slice(x, {{1, 2}}, {0, 0})`.
#define ONTO_TAKES_UPDATES(Rank, ...)                                                                     \
  template <class X, class I>                                                                             \
  auto scatter(X&& x, I&& numbers, detail::listed_beside<X, Rank> updates) {                              \
    return scatter(static_cast<X&&>(x), static_cast<I&&>(numbers),                                        \
                   detail::constant_in_braces<detail::element_in<X>>(shape<__VA_ARGS__>{}, updates));     \
  }                                                                                                       \
  template <class X, std::integral I, std::size_t N>                                                      \
  auto scatter(X&& x, const I(&numbers)[N], detail::listed_beside<X, Rank> updates) {                     \
    return scatter(static_cast<X&&>(x), constant(numbers),                                                \
                   detail::constant_in_braces<detail::element_in<X>>(shape<__VA_ARGS__>{}, updates));     \
  }                                                                                                       \
  template <class X, class I>                                                                             \
  auto scatter_add(X&& x, I&& numbers, detail::listed_beside<X, Rank> updates) {                          \
    return scatter_add(static_cast<X&&>(x), static_cast<I&&>(numbers),                                    \
                       detail::constant_in_braces<detail::element_in<X>>(shape<__VA_ARGS__>{}, updates)); \
  }                                                                                                       \
  template <class X, std::integral I, std::size_t N>                                                      \
  auto scatter_add(X&& x, const I(&numbers)[N], detail::listed_beside<X, Rank> updates) {                 \
    return scatter_add(static_cast<X&&>(x), constant(numbers),                                            \
                       detail::constant_in_braces<detail::element_in<X>>(shape<__VA_ARGS__>{}, updates)); \
  }                                                                                                       \
  template <class X, class I>                                                                             \
  auto update_slice(X&& x, detail::listed_beside<X, Rank> update, I&& starts) {                           \
    return update_slice(static_cast<X&&>(x),                                                              \
                        detail::constant_in_braces<detail::element_in<X>>(shape<__VA_ARGS__>{}, update),  \
                        static_cast<I&&>(starts));                                                        \
  }                                                                                                       \
  template <class X, std::integral I, std::size_t N>                                                      \
  auto update_slice(X&& x, detail::listed_beside<X, Rank> update, const I(&starts)[N]) {                  \
    return update_slice(static_cast<X&&>(x),                                                              \
                        detail::constant_in_braces<detail::element_in<X>>(shape<__VA_ARGS__>{}, update),  \
                        constant(starts));                                                                \
  }
ONTO_TAKES_UPDATES(1, dyn)
ONTO_TAKES_UPDATES(2, dyn, dyn)
#undef ONTO_TAKES_UPDATES
template <class X, std::integral I, std::size_t N, class U>
auto scatter(X&& x, const I (&numbers)[N], U&& updates) {
  return scatter(static_cast<X&&>(x), constant(numbers), static_cast<U&&>(updates));
}
template <class X, std::integral I, std::size_t N, class U>
auto scatter_add(X&& x, const I (&numbers)[N], U&& updates) {
  return scatter_add(static_cast<X&&>(x), constant(numbers), static_cast<U&&>(updates));
}
template <class X, class U, std::integral I, std::size_t N>
auto update_slice(X&& x, U&& update, const I (&starts)[N]) {
  return update_slice(static_cast<X&&>(x), static_cast<U&&>(update), constant(starts));
}

}  // namespace onto
