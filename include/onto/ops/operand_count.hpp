// SPDX-License-Identifier: BSL-1.0
// Words of one operand that were given more, words of two that were given one or three, numbers in braces where an
// operand is expected, casts of a number alone or to what is no element type, and choices of `where` by or between what
// is none: each is one sentence.
#pragma once
#pragma GCC system_header  // so that messages leave out how its macros expand

#include <onto/expr/constant.hpp>
#include <onto/expr/data.hpp>
#include <onto/expr/shape_check.hpp>
#include <onto/ops/operation_base.hpp>

#include <concepts>
#include <initializer_list>

namespace onto {

namespace detail {

// One struct a mistake, as in shape_check.hpp.
template <class... X>
struct takes_one_operand : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] this word takes one operand, element by element: exp(x), relu(x); two are taken by "
                "pow(x, y), maximum(x, y), x * y");
};
template <class... X>
struct takes_two_operands : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] this word takes two operands: pow(x, 2), maximum(x, 0), matmul(a, b); of more "
                "maximum(a, maximum(b, c)), matmul(a, matmul(b, c)), add_n(a, b, c)");
};
template <class E>
struct products_are_of_axes : mistake {
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(ok == true, "[onto.operands] dot and outer are of vectors and matrices; by a number it is 2 * x");
};
template <class T>
struct braces_are_a_constant : mistake {
  static constexpr bool ok = sizeof(T) == 0;
  static_assert(ok == true, "[onto.operands] numbers in braces are written as a constant: exp(constant({1.0, 2.5}))");
};
template <class N>
struct number_is_no_operand_alone : mistake {
  static constexpr bool ok = sizeof(N) == 0;
  static_assert(ok == true,
                "[onto.operands] a number in the type is no operand alone; compute with the number itself, "
                "std::exp(2.0), or fill an "
                "expression: sqrt(fill<double>(2_c))");
};
template <class To>
struct cast_is_to_an_element : mistake {
  static constexpr bool ok = sizeof(To) == 0;
  static_assert(ok == true,
                "[onto.element] this is no element type; cast<std::int64_t>(x) for long long, and float, double, half, "
                "bfloat16, bool, std::int8_t to std::uint64_t");
};
template <class To, class X>
struct number_is_cast_by_itself : mistake {
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(ok == true,
                "[onto.operands] cast is of expressions and data; a number alone is C++'s: static_cast<int>(2.7)");
};

template <class... X>
struct where_chooses_between_two : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] where chooses between two, element by element: where(condition, a, b)");
};
template <class... X>
struct condition_is_one_bool : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok == true,
      "[onto.element] where chooses for each element by a condition, which is first: where(x > 0, x, 0); by one bool "
      "write flag ? x : y of two values of one type, or feed a placeholder<\"flag\", bool>");
};
template <class... X>
struct call_has_an_expression : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok == true,
      "[onto.operands] an operation is called with expressions or data, and numbers beside them: call<my>(x), "
      "call<my>(x, 2.0)");
};

}  // namespace detail

#define ONTO_TAKES_ONE_OPERAND(word)                                 \
  template <class E, class Second, class... More>                    \
    requires(expression<E> || detail::data<E>)                       \
  constexpr auto word(const E&, const Second&, const More&...) {     \
    return typename detail::takes_one_operand<E, Second>::result{};  \
  }                                                                  \
  template <detail::constant_value T>                                \
  constexpr auto word(std::initializer_list<T>) {                    \
    return typename detail::braces_are_a_constant<T>::result{};      \
  }                                                                  \
  template <detail::number_in_type N>                                \
  constexpr auto word(const N&) {                                    \
    return typename detail::number_is_no_operand_alone<N>::result{}; \
  }
ONTO_TAKES_ONE_OPERAND(neg)
ONTO_TAKES_ONE_OPERAND(abs)
ONTO_TAKES_ONE_OPERAND(sign)
ONTO_TAKES_ONE_OPERAND(square)
ONTO_TAKES_ONE_OPERAND(sqrt)
ONTO_TAKES_ONE_OPERAND(rsqrt)
ONTO_TAKES_ONE_OPERAND(exp)
ONTO_TAKES_ONE_OPERAND(expm1)
ONTO_TAKES_ONE_OPERAND(log)
ONTO_TAKES_ONE_OPERAND(log1p)
ONTO_TAKES_ONE_OPERAND(sin)
ONTO_TAKES_ONE_OPERAND(cos)
ONTO_TAKES_ONE_OPERAND(tan)
ONTO_TAKES_ONE_OPERAND(asin)
ONTO_TAKES_ONE_OPERAND(acos)
ONTO_TAKES_ONE_OPERAND(atan)
ONTO_TAKES_ONE_OPERAND(sinh)
ONTO_TAKES_ONE_OPERAND(cosh)
ONTO_TAKES_ONE_OPERAND(tanh)
ONTO_TAKES_ONE_OPERAND(erf)
ONTO_TAKES_ONE_OPERAND(floor)
ONTO_TAKES_ONE_OPERAND(ceil)
ONTO_TAKES_ONE_OPERAND(round)
ONTO_TAKES_ONE_OPERAND(relu)
ONTO_TAKES_ONE_OPERAND(sigmoid)
ONTO_TAKES_ONE_OPERAND(gelu)
ONTO_TAKES_ONE_OPERAND(softplus)
#undef ONTO_TAKES_ONE_OPERAND

#define ONTO_TAKES_TWO_OPERANDS(word)                                                        \
  template <class E>                                                                         \
    requires(expression<E> || detail::data<E>)                                               \
  constexpr auto word(const E&) { return typename detail::takes_two_operands<E>::result{}; } \
  template <class E, class Second, class Third, class... More>                               \
    requires(expression<E> || detail::data<E>)                                               \
  constexpr auto word(const E&, const Second&, const Third&, const More&...) {               \
    return typename detail::takes_two_operands<E, Second, Third, More...>::result{};         \
  }
ONTO_TAKES_TWO_OPERANDS(pow)
ONTO_TAKES_TWO_OPERANDS(atan2)
ONTO_TAKES_TWO_OPERANDS(mod)
ONTO_TAKES_TWO_OPERANDS(maximum)
ONTO_TAKES_TWO_OPERANDS(minimum)
ONTO_TAKES_TWO_OPERANDS(matmul)
ONTO_TAKES_TWO_OPERANDS(dot)
ONTO_TAKES_TWO_OPERANDS(outer)
#undef ONTO_TAKES_TWO_OPERANDS
#define ONTO_TAKES_VECTORS(word)                               \
  template <detail::scalar_value S, expression E>              \
  constexpr auto word(S, const E&) {                           \
    return typename detail::products_are_of_axes<E>::result{}; \
  }                                                            \
  template <expression E, detail::scalar_value S>              \
  constexpr auto word(const E&, S) {                           \
    return typename detail::products_are_of_axes<E>::result{}; \
  }
ONTO_TAKES_VECTORS(dot)
ONTO_TAKES_VECTORS(outer)
#undef ONTO_TAKES_VECTORS

template <class To, class X>
  requires(!tensor_element<To> && (expression<X> || detail::data<X> || detail::scalar_value<X>))
constexpr auto cast(const X&) { return typename detail::cast_is_to_an_element<To>::result{}; }
template <tensor_element To, detail::scalar_value X>
constexpr auto cast(const X&) {
  return typename detail::number_is_cast_by_itself<To, X>::result{};
}
template <class Op, class... X>
  requires(!((detail::operand<X> && ...) && (expression<X> || ...)) && !(detail::data<X> || ...))
constexpr auto call(const X&...) { return typename detail::call_has_an_expression<Op, X...>::result{}; }

template <expression C, detail::operand... X>
  requires(sizeof...(X) < 2)
constexpr auto where(const C&, const X&...) { return typename detail::where_chooses_between_two<C, X...>::result{}; }
template <detail::scalar_value C, detail::operand A, detail::operand B>
  requires(expression<A> || expression<B>)
constexpr auto where(const C&, const A&, const B&) { return typename detail::condition_is_one_bool<A, B>::result{}; }
template <expression C, class A, class B>
  requires(!detail::data<A> && !detail::data<B> && !(detail::operand<A> && detail::operand<B>))
constexpr auto where(const C&, const A&, const B&) {
  return typename detail::where_chooses_between_two<C, A, B>::result{};
}

}  // namespace onto
