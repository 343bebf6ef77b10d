// SPDX-License-Identifier: BSL-1.0
// Operations on data itself: a tensor, a vector, an array or a span becomes a leaf, and the operation is that of
// expressions. Operators want an expression or a tensor on one side.
#pragma once

#include <onto/expr/data.hpp>
#include <onto/ops/activation.hpp>
#include <onto/ops/assign.hpp>
#include <onto/ops/bitwise.hpp>
#include <onto/ops/concat.hpp>
#include <onto/ops/matmul.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/rounding.hpp>
#include <onto/ops/softmax.hpp>
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
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto mod(L&& l, R&& r) {
  return mod(detail::leaf_of(static_cast<L&&>(l)), detail::leaf_of(static_cast<R&&>(r)));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto pow(L&& l, R&& r) {
  return pow(detail::leaf_of(static_cast<L&&>(l)), detail::leaf_of(static_cast<R&&>(r)));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto atan2(L&& l, R&& r) {
  return atan2(detail::leaf_of(static_cast<L&&>(l)), detail::leaf_of(static_cast<R&&>(r)));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto maximum(L&& l, R&& r) {
  return maximum(detail::leaf_of(static_cast<L&&>(l)), detail::leaf_of(static_cast<R&&>(r)));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto minimum(L&& l, R&& r) {
  return minimum(detail::leaf_of(static_cast<L&&>(l)), detail::leaf_of(static_cast<R&&>(r)));
}
template <class L, class R>
  requires detail::data_operands<L, R>
constexpr auto matmul(L&& l, R&& r) {
  return matmul(detail::leaf_of(static_cast<L&&>(l)), detail::leaf_of(static_cast<R&&>(r)));
}
template <expression Variable, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto assign(const Variable& variable, X&& x) {
  return assign(variable, detail::leaf_of(static_cast<X&&>(x)));
}
template <expression Variable, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto assign_add(const Variable& variable, X&& x) {
  return assign_add(variable, detail::leaf_of(static_cast<X&&>(x)));
}
template <expression Variable, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto assign_sub(const Variable& variable, X&& x) {
  return assign_sub(variable, detail::leaf_of(static_cast<X&&>(x)));
}
template <class X>
  requires(detail::data_alone<std::remove_cvref_t<X>>&& detail::own_type<std::remove_cvref_t<X>>)
constexpr auto operator-(X&& x) { return -detail::leaf_of(static_cast<X&&>(x)); }
template <class X>
  requires(detail::data_alone<std::remove_cvref_t<X>>&& detail::own_type<std::remove_cvref_t<X>>)
constexpr auto operator!(X&& x) { return !detail::leaf_of(static_cast<X&&>(x)); }
template <class X>
  requires(detail::data_alone<std::remove_cvref_t<X>>&& detail::own_type<std::remove_cvref_t<X>>)
constexpr auto operator~(X&& x) { return ~detail::leaf_of(static_cast<X&&>(x)); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto neg(X&& x) { return neg(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto abs(X&& x) { return abs(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto sign(X&& x) { return sign(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto square(X&& x) { return square(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto sqrt(X&& x) { return sqrt(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto rsqrt(X&& x) { return rsqrt(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto exp(X&& x) { return exp(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto expm1(X&& x) { return expm1(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto log(X&& x) { return log(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto log1p(X&& x) { return log1p(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto sin(X&& x) { return sin(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto cos(X&& x) { return cos(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto tan(X&& x) { return tan(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto asin(X&& x) { return asin(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto acos(X&& x) { return acos(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto atan(X&& x) { return atan(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto sinh(X&& x) { return sinh(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto cosh(X&& x) { return cosh(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto tanh(X&& x) { return tanh(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto erf(X&& x) { return erf(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto floor(X&& x) { return floor(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto ceil(X&& x) { return ceil(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto round(X&& x) { return round(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto relu(X&& x) { return relu(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto sigmoid(X&& x) { return sigmoid(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto gelu(X&& x) { return gelu(detail::leaf_of(static_cast<X&&>(x))); }
template <class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto transpose(X&& x) { return transpose(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto sum(X&& x) { return sum<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto prod(X&& x) { return prod<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto min(X&& x) { return min<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto max(X&& x) { return max<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto mean(X&& x) { return mean<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto any(X&& x) { return any<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto all(X&& x) { return all<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto argmin(X&& x) { return argmin<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto argmax(X&& x) { return argmax<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto softmax(X&& x) { return softmax<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto log_softmax(X&& x) { return log_softmax<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto reshape(X&& x) { return reshape<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }
template <int... Arguments, class X>
  requires detail::data_alone<std::remove_cvref_t<X>>
constexpr auto permute(X&& x) { return permute<Arguments...>(detail::leaf_of(static_cast<X&&>(x))); }

template <int... Axes, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto sum(X&& x, keep_extents_t) { return sum<Axes...>(detail::leaf_of(static_cast<X&&>(x)), keep_extents); }
template <int... Axes, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto max(X&& x, keep_extents_t) { return max<Axes...>(detail::leaf_of(static_cast<X&&>(x)), keep_extents); }
template <int... Axes, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto mean(X&& x, keep_extents_t) { return mean<Axes...>(detail::leaf_of(static_cast<X&&>(x)), keep_extents); }
template <tensor_element To, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto cast(X&& x) { return cast<To>(detail::leaf_of(static_cast<X&&>(x))); }
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
template <int Axis, class First, class Second>
  requires(detail::data<std::remove_cvref_t<First>> || detail::data<std::remove_cvref_t<Second>>)
constexpr auto concat(First&& first, Second&& second) {
  return concat<Axis>(detail::leaf_of(static_cast<First&&>(first)), detail::leaf_of(static_cast<Second&&>(second)));
}

}  // namespace onto
