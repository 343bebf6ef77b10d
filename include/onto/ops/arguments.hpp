// SPDX-License-Identifier: BSL-1.0
// Words that were given what they take in the wrong place: each is one sentence.
#pragma once
#pragma GCC system_header  // so that messages leave out how its macros expand

#include <onto/expr/data.hpp>
#include <onto/ops/argument_mistakes.hpp>
#include <onto/ops/data_word.hpp>
#include <onto/ops/operation_base.hpp>

#include <cstddef>
#include <initializer_list>
#include <tuple>
#include <type_traits>

namespace onto {

struct keep_extents_t;
template <expression... E>
struct fetch_list;

namespace op {
struct maximum;
struct minimum;
}  // namespace op

// Of two operands as they are: CUDA has functions of numbers with these names, to which an expression converts.
template <int... Written, expression E, detail::operand X>
constexpr auto min(const E&, const X&) {
  return typename detail::axes_or_two<op::minimum, E, X>::result{};
}
template <detail::scalar_value S, expression E>
constexpr auto min(S, const E&) {
  return typename detail::axes_or_two<op::minimum, S, E>::result{};
}
template <int... Written, expression E, detail::operand X>
constexpr auto max(const E&, const X&) {
  return typename detail::axes_or_two<op::maximum, E, X>::result{};
}
template <detail::scalar_value S, expression E>
constexpr auto max(S, const E&) {
  return typename detail::axes_or_two<op::maximum, S, E>::result{};
}

// What is asked for by numbers in <>, and was given them in (): each argument is converted, so that whatever takes it
// as it is comes first.
#define ONTO_HAS_NUMBERS_IN_ITS_TYPE(word, ...)                                                                   \
  template <int... Written, class E>                                                                              \
    requires detail::own_type<E>                                                                                  \
  constexpr auto word(const E&, detail::stray_argument, detail::stray_argument = {}, detail::stray_argument = {}, \
                      detail::stray_argument = {}) {                                                              \
    return typename detail::__VA_ARGS__::result{};                                                                \
  }
// And was given an element type in <>, as NumPy's dtype.
#define ONTO_HAS_AN_AXIS_IN_ITS_TYPE(word, ...)                     \
  ONTO_HAS_NUMBERS_IN_ITS_TYPE(word, __VA_ARGS__)                   \
  template <tensor_element Written, expression E>                   \
  constexpr auto word(const E&) {                                   \
    return typename detail::axis_is_a_number<Written, E>::result{}; \
  }
// What cannot be without them.
#define ONTO_WANTS_NUMBERS_IN_ITS_TYPE(word, ...)  \
  template <expression E>                          \
  constexpr auto word(const E&) {                  \
    return typename detail::__VA_ARGS__::result{}; \
  }                                                \
  ONTO_HAS_NUMBERS_IN_ITS_TYPE(word, __VA_ARGS__)
// Reductions, whose axis is kept by an argument: `sum<0, keep_extents>(x)`.
#define ONTO_KEEPS_EXTENTS(word, ...)                                                       \
  ONTO_HAS_AN_AXIS_IN_ITS_TYPE(word, __VA_ARGS__)                                           \
  template <auto... Written, expression E>                                                  \
    requires(std::is_same_v<std::remove_const_t<decltype(Written)>, keep_extents_t> || ...) \
  constexpr auto word(const E&) { return typename detail::axis_is_an_argument<E>::result{}; }
ONTO_KEEPS_EXTENTS(sum, axis_is_an_argument<E>)
ONTO_KEEPS_EXTENTS(prod, axis_is_an_argument<E>)
ONTO_KEEPS_EXTENTS(min, axes_or_two<op::minimum, E>)
ONTO_KEEPS_EXTENTS(max, axes_or_two<op::maximum, E>)
ONTO_KEEPS_EXTENTS(mean, axis_is_an_argument<E>)
ONTO_KEEPS_EXTENTS(var, statistics_are_of_all<E>)
ONTO_KEEPS_EXTENTS(stddev, statistics_are_of_all<E>)
ONTO_KEEPS_EXTENTS(norm, statistics_are_of_all<E>)
ONTO_KEEPS_EXTENTS(logsumexp, axis_is_an_argument<E>)
ONTO_KEEPS_EXTENTS(any, axis_is_an_argument<E>)
ONTO_KEEPS_EXTENTS(all, axis_is_an_argument<E>)
ONTO_HAS_AN_AXIS_IN_ITS_TYPE(argmin, axis_is_an_argument<E>)
ONTO_HAS_AN_AXIS_IN_ITS_TYPE(argmax, axis_is_an_argument<E>)
ONTO_HAS_AN_AXIS_IN_ITS_TYPE(softmax, axis_is_an_argument<E>)
ONTO_HAS_AN_AXIS_IN_ITS_TYPE(log_softmax, axis_is_an_argument<E>)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(reshape, axis_is_an_argument<E>)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(transpose, axis_is_an_argument<E>)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(permute, axis_is_an_argument<E>)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(flip, axis_is_an_argument<E>)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(broadcast_to, axis_is_an_argument<E>)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(tril, axis_is_an_argument<E>)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(triu, axis_is_an_argument<E>)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(stack, stack_joins_operands<E>)
ONTO_WANTS_NUMBERS_IN_ITS_TYPE(slice, axis_is_an_argument<E>)
ONTO_WANTS_NUMBERS_IN_ITS_TYPE(squeeze, axis_is_an_argument<E>)
ONTO_WANTS_NUMBERS_IN_ITS_TYPE(expand_dims, axis_is_an_argument<E>)
ONTO_WANTS_NUMBERS_IN_ITS_TYPE(roll, axis_is_an_argument<E>)
ONTO_WANTS_NUMBERS_IN_ITS_TYPE(repeat, axis_is_an_argument<E>)
ONTO_WANTS_NUMBERS_IN_ITS_TYPE(tile, axis_is_an_argument<E>)
ONTO_WANTS_NUMBERS_IN_ITS_TYPE(split, axis_is_an_argument<E>)
ONTO_WANTS_NUMBERS_IN_ITS_TYPE(one_hot, axis_is_an_argument<E>)
ONTO_WANTS_NUMBERS_IN_ITS_TYPE(concat, concat_joins_operands<E>)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(pad, axis_is_an_argument<E>)
#undef ONTO_WANTS_NUMBERS_IN_ITS_TYPE
#undef ONTO_HAS_AN_AXIS_IN_ITS_TYPE
#undef ONTO_HAS_NUMBERS_IN_ITS_TYPE
#undef ONTO_KEEPS_EXTENTS

template <int... Written, expression E>
constexpr auto pad(const E&) {
  return typename detail::axis_is_an_argument<E>::result{};
}
template <class... Paddings, expression E, class Mode>
  requires(sizeof...(Paddings) > 0 && std::is_convertible_v<Mode, const char*>)
constexpr auto pad(const E&, const Mode&) { return typename detail::pad_has_a_value<E>::result{}; }
template <class... Ranges, expression E, class... More>
  requires(sizeof...(Ranges) > 0 && sizeof...(More) > 0)
constexpr auto slice(const E&, const More&...) { return typename detail::index_is_a_range<E>::result{}; }
template <class Range, int... Index, expression E>
  requires(sizeof...(Index) > 0)
constexpr auto slice(const E&) { return typename detail::index_is_a_range<E>::result{}; }
template <int First, int Second, int Third, int... More, expression E>
  requires(sizeof...(More) > 0)
constexpr auto slice(const E&) { return typename detail::index_is_a_range<E>::result{}; }
template <auto... Ranges, expression E>
  requires(std::is_class_v<decltype(Ranges)> || ...)
constexpr auto slice(const E&) { return typename detail::index_is_a_range<E>::result{}; }
// `slice<all, range<1, 2>>(x)`: of the functions named `all` this one is what a template argument can be.
constexpr detail::every all(detail::every) { return {}; }
template <detail::every_element, class... Ranges, expression E>
constexpr auto slice(const E&) {
  return typename detail::index_is_a_range<E>::result{};
}
template <detail::every_element, int, int... Index, expression E>
constexpr auto slice(const E&) {
  return typename detail::index_is_a_range<E>::result{};
}
template <detail::every_element, detail::every_element, class... Ranges, expression E>
constexpr auto slice(const E&) {
  return typename detail::index_is_a_range<E>::result{};
}
template <class First, detail::every_element, class... Ranges, expression E>
constexpr auto slice(const E&) {
  return typename detail::index_is_a_range<E>::result{};
}
template <class First, class Second, detail::every_element, class... Ranges, expression E>
constexpr auto slice(const E&) {
  return typename detail::index_is_a_range<E>::result{};
}
template <int First, int Second, int Third, int... More, expression E>
constexpr auto roll(const E&) {
  return typename detail::roll_is_along_an_axis<E>::result{};
}
template <int... Written, expression E>
  requires(sizeof...(Written) > 0)
constexpr auto transpose(const E&) { return typename detail::axis_is_an_argument<E>::result{}; }
template <expression E>
constexpr auto clip(const E&, detail::stray_argument) {
  return typename detail::clip_has_two_bounds<E>::result{};
}
template <detail::scalar_value S, expression E>
constexpr auto clip(S, const E&, detail::stray_argument) {
  return typename detail::clip_has_two_bounds<S, E>::result{};
}
template <detail::scalar_value S, class Second, expression E>
  requires(!expression<Second>)
constexpr auto clip(S, const Second&, const E&) { return typename detail::clip_has_two_bounds<S, E>::result{}; }
template <auto... Bounds, expression E>
  requires(sizeof...(Bounds) > 0)
constexpr auto clip(const E&) { return typename detail::clip_has_two_bounds<E>::result{}; }
template <expression E>
constexpr auto cast(const E&) {
  return typename detail::element_is_an_argument<E>::result{};
}
template <fixed_string Type, class X>
constexpr auto cast(const X&) {
  return typename detail::element_is_an_argument<X>::result{};
}
template <expression E, class To>
constexpr auto cast(const E&, const To&) {
  return typename detail::element_is_an_argument<E, To>::result{};
}
#define ONTO_TAKES_NO_LIST(word)                                  \
  template <expression E, class T, std::size_t N>                 \
  constexpr auto word(const E&, const T(&)[N]) {                  \
    return typename detail::list_has_no_shape<E, T[N]>::result{}; \
  }
ONTO_TAKES_NO_LIST(matmul)
ONTO_TAKES_NO_LIST(dot)
ONTO_TAKES_NO_LIST(maximum)
ONTO_TAKES_NO_LIST(minimum)
#undef ONTO_TAKES_NO_LIST
template <expression C, class T, std::size_t N>
constexpr auto where(const C&, const T (&)[N], detail::stray_argument) {
  return typename detail::list_has_no_shape<C, T[N]>::result{};
}
template <expression C, detail::operand E, std::size_t N>
constexpr auto where(const C&, const E&, const char (&)[N]) {
  return typename detail::text_is_no_number<op::where, C, E>::result{};
}
template <expression C, detail::operand E, class T, std::size_t N>
constexpr auto where(const C&, const E&, const T (&)[N]) {
  return typename detail::list_has_no_shape<C, E, T[N]>::result{};
}
template <int... Axis>
constexpr ill_formed concat(const detail::list_of_operands&, detail::stray_argument = {}) {
  return {};
}
template <int... Axis>
constexpr ill_formed stack(const detail::list_of_operands&, detail::stray_argument = {}) {
  return {};
}
template <int... Axis>
constexpr ill_formed add_n(const detail::list_of_operands&) {
  return {};
}

template <tensor_element T, int N, class X>
constexpr auto one_hot(const X&) {
  return typename detail::element_is_second<T, X>::result{};
}
template <tensor_element T, expression E>
constexpr auto zeros_like(const E&) {
  return typename detail::element_is_that_of_another<T, E>::result{};
}
template <tensor_element T, expression E>
constexpr auto ones_like(const E&) {
  return typename detail::element_is_that_of_another<T, E>::result{};
}
template <fixed_string Name = "">
constexpr auto constant(detail::stray_constant, detail::stray_constant = {}, detail::stray_constant = {},
                        detail::stray_constant = {}) {
  return typename detail::constant_is_of_one_type<text_of<Name>>::result{};
}
template <detail::own_type E>
constexpr auto isnan(const E&) {
  return typename detail::said_by_a_comparison<E>::result{};
}
template <detail::own_type E>
constexpr auto isfinite(const E&) {
  return typename detail::said_by_a_comparison<E>::result{};
}
template <detail::own_type E>
constexpr auto isinf(const E&) {
  return typename detail::said_by_a_comparison<E>::result{};
}
template <detail::own_type E>
constexpr auto operator*(const E&) {
  return typename detail::powers_are_a_word<E>::result{};
}
template <expression E, class... X>
constexpr auto minimize(const E&, const X&...) {
  return typename detail::optimizer_is_first<E, X...>::result{};
}
template <expression Loss, detail::data W>
constexpr auto gradient(const Loss&, const W&) {
  return typename detail::gradient_is_by_an_expression<Loss, W>::result{};
}
template <expression Loss, class... W>
  requires((detail::data<W> || ...) && ((expression<W> || detail::data<W>)&&...))
constexpr auto gradients(const Loss& loss, const W&... w) { return std::tuple{gradient(loss, w)...}; }
template <expression Loss, class... W>
  requires((detail::data<W> || ...) && ((expression<W> || detail::data<W>)&&...))
constexpr auto value_and_gradient(const Loss& loss, const W&... w) { return std::tuple{loss, gradient(loss, w)...}; }
template <expression Loss>
constexpr ill_formed gradient(const Loss&, const detail::list_to_derive_by&) {
  return {};
}
template <expression Loss>
constexpr ill_formed gradients(const Loss&, const detail::list_to_derive_by&) {
  return {};
}
template <expression Loss, expression First, expression Second, expression... More>
constexpr auto gradient(const Loss&, const First&, const Second&, const More&...) {
  return typename detail::gradients_of_several<Loss, First, Second, More...>::result{};
}

template <expression... E, class... More>
constexpr auto group(const fetch_list<E...>&, const More&...) {
  return typename detail::group_has_one_value<E..., More...>::result{};
}

}  // namespace onto
