// SPDX-License-Identifier: BSL-1.0
// Operations on data itself: a tensor, a vector, an array or a span becomes a leaf, and the operation is that of
// expressions. Operators want an expression or a tensor on one side.
#pragma once

#include <onto/expr/data.hpp>
#include <onto/expr/scope.hpp>
#include <onto/ops/activation.hpp>
#include <onto/ops/assign.hpp>
#include <onto/ops/axes_of_one.hpp>
#include <onto/ops/bitwise.hpp>
#include <onto/ops/concat.hpp>
#include <onto/ops/data_word.hpp>
#include <onto/ops/losses.hpp>
#include <onto/ops/matmul.hpp>
#include <onto/ops/matrix.hpp>
#include <onto/ops/normalization.hpp>
#include <onto/ops/pad.hpp>
#include <onto/ops/rearrange.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/rounding.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/ops/statistics.hpp>
#include <onto/ops/unary.hpp>
#include <onto/ops/view.hpp>

namespace onto {

template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator+(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) + detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator-(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) - detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator*(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) * detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator/(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) / detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator%(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) % detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator&(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) & detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator|(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) | detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator^(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) ^ detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator<<(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) << detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator>>(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) >> detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator&&(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) && detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator||(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) || detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator<(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) < detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator<=(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) <= detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator>(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) > detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto operator>=(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) >= detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_beside<L, R>
constexpr auto operator==(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) == detail::leaf_of(static_cast<R&&>(r));
}
template <class L, class R>
  requires detail::data_beside<L, R>
constexpr auto operator!=(L&& l, R&& r) {
  return detail::leaf_of(static_cast<L&&>(l)) != detail::leaf_of(static_cast<R&&>(r));
}
// What `gradients` gives, beside a number or another such.
#define ONTO_SEVERAL_ARE_NO_OPERAND(sign)                                                    \
  template <detail::scalar_value S, expression First, expression... More>                    \
  constexpr auto operator sign(const S&, const std::tuple<First, More...>&) {                \
    return typename detail::several_expressions_are_no_operand<std::tuple<First>>::result{}; \
  }                                                                                          \
  template <expression First, expression... More, class R>                                   \
    requires(detail::scalar_value<R> || detail::is_tuple_of_expressions<R>)                  \
  constexpr auto operator sign(const std::tuple<First, More...>&, const R&) {                \
    return typename detail::several_expressions_are_no_operand<std::tuple<First>>::result{}; \
  }
ONTO_SEVERAL_ARE_NO_OPERAND(+)
ONTO_SEVERAL_ARE_NO_OPERAND(-)
ONTO_SEVERAL_ARE_NO_OPERAND(*)
ONTO_SEVERAL_ARE_NO_OPERAND(/)
#undef ONTO_SEVERAL_ARE_NO_OPERAND
template <expression First, expression... More>
constexpr auto operator-(const std::tuple<First, More...>&) {
  return typename detail::several_expressions_are_no_operand<std::tuple<First>>::result{};
}
// Texts of a tensor are compared with a string.
template <class X, class S>
  requires detail::text_beside_texts<std::remove_cvref_t<X>, S>
constexpr auto operator==(X&& x, const S& s) { return detail::leaf_of(static_cast<X&&>(x)) == s; }
template <class S, class X>
  requires detail::text_beside_texts<std::remove_cvref_t<X>, S>
constexpr auto operator==(const S& s, X&& x) { return s == detail::leaf_of(static_cast<X&&>(x)); }
template <class X, class S>
  requires detail::text_beside_texts<std::remove_cvref_t<X>, S>
constexpr auto operator!=(X&& x, const S& s) { return detail::leaf_of(static_cast<X&&>(x)) != s; }
template <class S, class X>
  requires detail::text_beside_texts<std::remove_cvref_t<X>, S>
constexpr auto operator!=(const S& s, X&& x) { return s != detail::leaf_of(static_cast<X&&>(x)); }
// A line of output is no sum: to C++ a result that is an integer would move the pointer to the characters.
template <class L, class R>
  requires((detail::is_number_tensor<L> && detail::text_beside_tensor<L, R>) ||
           (detail::is_number_tensor<R> && detail::text_beside_tensor<R, L>))
constexpr ill_formed operator+(const L&, const R&) { return typename detail::text_is_no_number<L, R>::result{}; }
template <class L, class R>
  requires detail::text_beside_numbers<L, R>
constexpr ill_formed operator==(const L&, const R&) { return typename detail::text_is_no_number<L, R>::result{}; }
template <class L, class R>
  requires detail::text_beside_numbers<L, R>
constexpr ill_formed operator!=(const L&, const R&) { return typename detail::text_is_no_number<L, R>::result{}; }
ONTO_TAKES_DATA_OF_TWO(mod)
ONTO_TAKES_DATA_OF_TWO(pow)
ONTO_TAKES_DATA_OF_TWO(atan2)
ONTO_TAKES_DATA_OF_TWO(maximum)
ONTO_TAKES_DATA_OF_TWO(minimum)
ONTO_TAKES_DATA_OF_TWO(matmul)
template <expression Variable, class X>
  requires detail::data<std::remove_cvref_t<X>>
[[nodiscard("an assignment is an expression: it assigns when it is run")]] constexpr auto assign(
    const Variable& variable, X&& x) {
  return assign(variable, detail::leaf_of(static_cast<X&&>(x)));
}
template <expression Variable, class X>
  requires detail::data<std::remove_cvref_t<X>>
[[nodiscard("an assignment is an expression: it assigns when it is run")]] constexpr auto assign_add(
    const Variable& variable, X&& x) {
  return assign_add(variable, detail::leaf_of(static_cast<X&&>(x)));
}
template <expression Variable, class X>
  requires detail::data<std::remove_cvref_t<X>>
[[nodiscard("an assignment is an expression: it assigns when it is run")]] constexpr auto assign_sub(
    const Variable& variable, X&& x) {
  return assign_sub(variable, detail::leaf_of(static_cast<X&&>(x)));
}
template <class X>
  requires(detail::data_alone<std::remove_cvref_t<X>>&& detail::own_type<std::remove_cvref_t<X>>)
constexpr auto operator+(X&& x) { return +detail::leaf_of(static_cast<X&&>(x)); }
template <class X>
  requires(detail::data_alone<std::remove_cvref_t<X>>&& detail::own_type<std::remove_cvref_t<X>>)
constexpr auto operator-(X&& x) { return -detail::leaf_of(static_cast<X&&>(x)); }
template <class X>
  requires(detail::data_alone<std::remove_cvref_t<X>>&& detail::own_type<std::remove_cvref_t<X>>)
constexpr auto operator!(X&& x) { return !detail::leaf_of(static_cast<X&&>(x)); }
template <class X>
  requires(detail::data_alone<std::remove_cvref_t<X>>&& detail::own_type<std::remove_cvref_t<X>>)
constexpr auto operator~(X&& x) { return ~detail::leaf_of(static_cast<X&&>(x)); }
ONTO_TAKES_VALUES_ALONE(neg)
ONTO_TAKES_DATA_ALONE(auto, abs)
ONTO_TAKES_VALUES_ALONE(sign)
ONTO_TAKES_VALUES_ALONE(square)
ONTO_TAKES_DATA_ALONE(auto, sqrt)
ONTO_TAKES_VALUES_ALONE(rsqrt)
ONTO_TAKES_DATA_ALONE(auto, exp)
ONTO_TAKES_DATA_ALONE(auto, expm1)
ONTO_TAKES_DATA_ALONE(auto, log)
ONTO_TAKES_DATA_ALONE(auto, log1p)
ONTO_TAKES_DATA_ALONE(auto, sin)
ONTO_TAKES_DATA_ALONE(auto, cos)
ONTO_TAKES_DATA_ALONE(auto, tan)
ONTO_TAKES_DATA_ALONE(auto, asin)
ONTO_TAKES_DATA_ALONE(auto, acos)
ONTO_TAKES_DATA_ALONE(auto, atan)
ONTO_TAKES_DATA_ALONE(auto, sinh)
ONTO_TAKES_DATA_ALONE(auto, cosh)
ONTO_TAKES_DATA_ALONE(auto, tanh)
ONTO_TAKES_DATA_ALONE(auto, erf)
ONTO_TAKES_DATA_ALONE(auto, floor)
ONTO_TAKES_DATA_ALONE(auto, ceil)
ONTO_TAKES_DATA_ALONE(auto, round)
ONTO_TAKES_VALUES_ALONE(relu)
ONTO_TAKES_VALUES_ALONE(sigmoid)
ONTO_TAKES_VALUES_ALONE(gelu)
ONTO_TAKES_VALUES_ALONE(transpose)
ONTO_TAKES_VALUES_ALONE(sum)
ONTO_TAKES_VALUES_ALONE(prod)
ONTO_TAKES_VALUES_ALONE(min)
ONTO_TAKES_VALUES_ALONE(max)
ONTO_TAKES_VALUES_ALONE(mean)
ONTO_TAKES_VALUES_ALONE(any)
ONTO_TAKES_VALUES_ALONE(all)
ONTO_TAKES_VALUES_ALONE(argmin)
ONTO_TAKES_VALUES_ALONE(argmax)
ONTO_TAKES_VALUES_ALONE(softmax)
ONTO_TAKES_VALUES_ALONE(log_softmax)
ONTO_TAKES_VALUES_ALONE(reshape)
ONTO_TAKES_DATA_ALONE(auto, permute)

template <place_type Device, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto on(X&& x) { return on<Device>(detail::leaf_of(static_cast<X&&>(x))); }
template <tensor_element To, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto cast(X&& x) { return cast<To>(detail::leaf_of(static_cast<X&&>(x))); }
template <int N, tensor_element T = float, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto one_hot(X&& x) { return one_hot<N, T>(detail::leaf_of(static_cast<X&&>(x))); }
template <int Begin, int End = to_end, int Step = 1, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto slice(X&& x) { return slice<Begin, End, Step>(detail::leaf_of(static_cast<X&&>(x))); }
template <class... Ranges, class X>
  requires(sizeof...(Ranges) > 0 && detail::data<std::remove_cvref_t<X>>)
constexpr auto slice(X&& x) { return slice<Ranges...>(detail::leaf_of(static_cast<X&&>(x))); }
template <class Condition, class A, class B>
  requires(detail::data<std::remove_cvref_t<Condition>> || detail::data<std::remove_cvref_t<A>> ||
           detail::data<std::remove_cvref_t<B>>)
constexpr auto where(Condition&& condition, A&& a, B&& b) {
  return where(detail::leaf_of(static_cast<Condition&&>(condition)), detail::leaf_of(static_cast<A&&>(a)),
               detail::leaf_of(static_cast<B&&>(b)));
}
ONTO_TAKES_DATA(auto, concat)
ONTO_TAKES_DATA(auto, softplus)
ONTO_TAKES_DATA(auto, stop_gradient)
ONTO_TAKES_DATA(fixed_string, named)
ONTO_TAKES_DATA(auto, dot)
ONTO_TAKES_DATA(auto, outer)
ONTO_TAKES_DATA(auto, clip)
ONTO_TAKES_DATA(auto, add_n)
ONTO_TAKES_DATA(auto, squeeze)
ONTO_TAKES_DATA(auto, expand_dims)
ONTO_TAKES_DATA(auto, var)
ONTO_TAKES_DATA(auto, stddev)
ONTO_TAKES_DATA(auto, norm)
ONTO_TAKES_DATA(auto, logsumexp)
ONTO_TAKES_DATA(auto, repeat)
ONTO_TAKES_DATA(auto, tile)
ONTO_TAKES_DATA(auto, roll)
ONTO_TAKES_DATA(auto, flip)
ONTO_TAKES_DATA(auto, split)
ONTO_TAKES_DATA(auto, stack)
ONTO_TAKES_DATA(auto, broadcast_to)
ONTO_TAKES_DATA_ALONE(auto, full_like)
ONTO_TAKES_DATA(auto, zeros_like)
ONTO_TAKES_DATA(auto, ones_like)
ONTO_TAKES_DATA(auto, tril)
ONTO_TAKES_DATA(auto, triu)
ONTO_TAKES_DATA(auto, layer_norm)
ONTO_TAKES_DATA(auto, softmax_cross_entropy)
ONTO_TAKES_DATA(auto, sigmoid_cross_entropy)
ONTO_TAKES_DATA(auto, mean_squared_error)
ONTO_TAKES_DATA(auto, huber)
ONTO_TAKES_DATA_ALONE(class, pad)
ONTO_TAKES_DATA_ALONE(int, pad)

}  // namespace onto
