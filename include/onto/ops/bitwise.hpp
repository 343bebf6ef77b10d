// SPDX-License-Identifier: BSL-1.0
// The operators of C++ on bits: % & | ^ ~ << >>. On bool, & | ^ ~ are logic, as in NumPy.
#pragma once

#include <onto/ops/arithmetic.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/logic.hpp>

#include <type_traits>

namespace onto {

namespace op {

struct bitwise_and : detail::packed_elementwise<integer_elements>, detail::integer_packs {
  static constexpr std::string_view name = "BitwiseAnd";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(const T& a, const T& b) {
    return static_cast<T>(a & b);
  }
};

struct bitwise_or : detail::packed_elementwise<integer_elements>, detail::integer_packs {
  static constexpr std::string_view name = "BitwiseOr";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(const T& a, const T& b) {
    return static_cast<T>(a | b);
  }
};

struct bitwise_xor : detail::packed_elementwise<integer_elements>, detail::integer_packs {
  static constexpr std::string_view name = "BitwiseXor";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(const T& a, const T& b) {
    return static_cast<T>(a ^ b);
  }
};

struct invert : detail::packed_elementwise<integer_elements>, detail::integer_packs {
  static constexpr std::string_view name = "Invert";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(const T& x) {
    return static_cast<T>(~x);
  }
};

/// A shift by the width or more, or by less than 0, leaves nothing: no bits, or those of the sign.
struct left_shift : detail::packed_elementwise<integer_elements>, detail::integer_lanes {
  static constexpr std::string_view name = "LeftShift";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x, T by) {
    return math::of_integers(
        [](auto a, auto b) {
          using number = decltype(a);
          using bits = std::make_unsigned_t<number>;
          const auto count = static_cast<bits>(b);
          return count >= 8 * sizeof(bits) ? number{0} : static_cast<number>(static_cast<bits>(a) << count);
        },
        x, by);
  }
};

struct right_shift : detail::packed_elementwise<integer_elements>, detail::integer_lanes {
  static constexpr std::string_view name = "RightShift";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x, T by) {
    return math::of_integers(
        [](auto a, auto b) {
          using bits = std::make_unsigned_t<decltype(a)>;
          constexpr bits width = 8 * sizeof(bits);
          const auto count = static_cast<bits>(b);
          const auto most = static_cast<bits>(width - 1);
          return static_cast<decltype(a)>(a >> (count > most ? most : count) >> (count > most ? 1 : 0));
        },
        x, by);
  }
};

}  // namespace op

namespace detail {

template <class Element>
struct exclusive_or_is_no_power : mistake {
  static constexpr bool ok = sizeof(Element) > 99;
  static_assert(ok == true,
                "[onto.element] ^ is the exclusive or of integers or bools; a power is pow(x, 2) or square(x)");
};

/// The operation `Bits` of integers, which is `Logic` of bools.
template <class Bits, class Logic, class... X>
constexpr auto make_bitwise(const X&... x) {
  using first = typename first_expression<X...>::type;
  if constexpr (std::is_same_v<Bits, op::bitwise_xor> && is_floating(first::type) && !any_ill_formed<X...>)
    return typename exclusive_or_is_no_power<typename first::element_type>::result{};
  else if constexpr (first::type == element::boolean)
    return make<Logic>(x...);
  else
    return make<Bits>(x...);
}

}  // namespace detail

/// The remainder of `a / b` with the sign of `b`: `mod(a, b)`.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator%(const L& l, const R& r) { return make<op::mod>(l, r); }

/// The bits that both have; of bools, where both are true. One operand may be a scalar.
/// *Mandates* operands of one element type, of integers or bool, whose shapes broadcast.
/// *Throws* `invalid_argument_error` where an integer does not fit the integers beside it.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator&(const L& l, const R& r) {
  return detail::make_bitwise<op::bitwise_and, op::logical_and>(l, r);
}

/// The bits that one or both have, as `&`.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator|(const L& l, const R& r) { return detail::make_bitwise<op::bitwise_or, op::logical_or>(l, r); }

/// The bits that one of the two has, as `&`. A power is `pow(x, 2)`.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator^(const L& l, const R& r) { return detail::make_bitwise<op::bitwise_xor, op::not_equal>(l, r); }

/// The other bits; of bools, `!x`.
template <expression E>
constexpr auto operator~(const E& x) {
  return detail::make_bitwise<op::invert, op::logical_not>(x);
}

/// The bits of each integer moved up, zeros coming in; by the width or more, or by less than 0, it is 0.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator<<(const L& l, const R& r) { return make<op::left_shift>(l, r); }

/// The bits of each integer moved down, those of the sign coming in; by the width or more, or by less than 0, these are
/// all.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator>>(const L& l, const R& r) { return make<op::right_shift>(l, r); }

/// The expression itself.
template <expression E>
constexpr auto operator+(const E& x) {
  return x;
}

}  // namespace onto
