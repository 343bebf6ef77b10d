// SPDX-License-Identifier: BSL-1.0
// Comparisons between tensors, element by element: the result is a tensor of bool.
#pragma once

#include <onto/ops/operation_base.hpp>

namespace onto {

namespace op {

/// The base of comparisons: operands of one element type, a result of bool (for packs, a mask).
template <element_set Accepted>
struct comparison : detail::packed_elementwise<Accepted>, detail::integer_packs {
  template <class... E>
  static constexpr element result(E...) {
    return element::boolean;
  }
};

struct equal : comparison<elements_and_text> {
  static constexpr std::string_view name = "Equal";
  template <class T>
  ONTO_HD ONTO_INLINE static auto apply(T a, T b) {
    return a == b;
  }
};

struct not_equal : comparison<elements_and_text> {
  static constexpr std::string_view name = "NotEqual";
  template <class T>
  ONTO_HD ONTO_INLINE static auto apply(T a, T b) {
    return !(a == b);
  }
};

struct less : comparison<numeric_elements> {
  static constexpr std::string_view name = "Less";
  template <class T>
  ONTO_HD ONTO_INLINE static auto apply(T a, T b) {
    return a < b;
  }
};

struct less_equal : comparison<numeric_elements> {
  static constexpr std::string_view name = "LessEqual";
  template <class T>
  ONTO_HD ONTO_INLINE static auto apply(T a, T b) {
    return a <= b;
  }
};

struct greater : comparison<numeric_elements> {
  static constexpr std::string_view name = "Greater";
  template <class T>
  ONTO_HD ONTO_INLINE static auto apply(T a, T b) {
    return a > b;
  }
};

struct greater_equal : comparison<numeric_elements> {
  static constexpr std::string_view name = "GreaterEqual";
  template <class T>
  ONTO_HD ONTO_INLINE static auto apply(T a, T b) {
    return a >= b;
  }
};

}  // namespace op

/// Where elements are equal. NaN equals nothing. One operand may be a scalar.
/// *Mandates* operands of one element type whose shapes broadcast.
/// *Throws* `invalid_argument_error` where an integer does not fit the integers beside it.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator==(const L& l, const R& r) { return make<op::equal>(l, r); }

/// Where elements differ, as `==`.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator!=(const L& l, const R& r) { return make<op::not_equal>(l, r); }

namespace detail {
/// A string beside an expression, which is to be one of texts. What the compiler sees first decides nearly always.
template <class E, class S>
concept text_beside = __is_base_of(expression_base, E) && !__is_base_of(expression_base, S) &&
                      !std::is_arithmetic_v<S> && text_like<S>;
}  // namespace detail

/// Where texts are the given one, and where they are not.
template <class E, class S>
  requires detail::text_beside<E, S>
constexpr auto operator==(const E& e, const S& s) { return make<op::equal>(e, constant(s)); }
template <class S, class E>
  requires detail::text_beside<E, S>
constexpr auto operator==(const S& s, const E& e) { return make<op::equal>(constant(s), e); }
template <class E, class S>
  requires detail::text_beside<E, S>
constexpr auto operator!=(const E& e, const S& s) { return make<op::not_equal>(e, constant(s)); }
template <class S, class E>
  requires detail::text_beside<E, S>
constexpr auto operator!=(const S& s, const E& e) { return make<op::not_equal>(constant(s), e); }

// Nothing else is done with a string beside an expression.
#define ONTO_TAKES_NO_TEXT(symbol)                                   \
  template <class L, class R>                                        \
    requires(detail::text_beside<L, R> || detail::text_beside<R, L>) \
  constexpr auto operator symbol(const L&, const R&) { return typename detail::text_is_no_number<L, R>::result{}; }
ONTO_TAKES_NO_TEXT(<)
ONTO_TAKES_NO_TEXT(<=)
ONTO_TAKES_NO_TEXT(>)
ONTO_TAKES_NO_TEXT(>=)
ONTO_TAKES_NO_TEXT(+)
ONTO_TAKES_NO_TEXT(-)
ONTO_TAKES_NO_TEXT(*)
ONTO_TAKES_NO_TEXT(/)
ONTO_TAKES_NO_TEXT(%)
#undef ONTO_TAKES_NO_TEXT

/// Where elements of the left are less, as `==` but for numbers only.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator<(const L& l, const R& r) { return make<op::less>(l, r); }

/// Where elements of the left are less or equal, as `<`.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator<=(const L& l, const R& r) { return make<op::less_equal>(l, r); }

/// Where elements of the left are greater, as `<`.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator>(const L& l, const R& r) { return make<op::greater>(l, r); }

/// Where elements of the left are greater or equal, as `<`.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator>=(const L& l, const R& r) { return make<op::greater_equal>(l, r); }

}  // namespace onto
