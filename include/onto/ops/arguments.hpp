// SPDX-License-Identifier: BSL-1.0
// Words that were given what they take in the wrong place: each is one sentence.
#pragma once

#include <onto/expr/data.hpp>
#include <onto/expr/shape_check.hpp>
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

namespace detail {

// One struct a mistake, as in shape_check.hpp.
template <class... X>
struct axis_is_an_argument : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.axis] axes, extents and ranges are known to the compiler: sum<1>(x), reshape<2, 3>(x), "
                "slice<0, 2>(x), concat<1>(x, y), roll<1, 0>(x), sum<1>(x, keep_extents), permute<1, 0>(x), "
                "squeeze<0>(x), tile<2, 1>(x), one_hot<10>(x), pad<padding<1>>(x)");
};
template <class... X>
struct axis_is_a_number : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.axis] what stands in <> here is an axis: sum<0>(x), cumsum<1>(x); the element type is that of "
                "the operand: sum(cast<double>(x))");
};
template <class... X>
struct group_has_one_value : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.operands] group is one value with its effects; among several it is one: "
                "fetches(a, group(b, assign(w, x)))");
};
template <class Op, class... X>
struct axes_or_two : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.axis] max and min are over axes: max<1>(x); of two operands, element by element: maximum(x, y), "
                "minimum(x, y); an axis is kept by max<1>(x, keep_extents)");
};
template <class... X>
struct statistics_are_of_all : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok,
      "[onto.axis] an axis stands in <>: var<1>(x), norm<1>(x); the variance of a sample (ddof) is var(x) * (n / "
      "(n - 1.0)), and other norms (ord) are sum(abs(x)), max(abs(x))");
};
template <class... X>
struct element_is_second : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok, "[onto.element] the element type is behind the number: one_hot<10, int>(i); else it is float");
};
template <class... X>
struct element_is_that_of_another : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok, "[onto.element] zeros_like(x) has the elements of x; of another type cast<int>(zeros_like(x))");
};
template <class... X>
struct concat_joins_operands : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok,
      "[onto.axis] the axis of concat stands in <>, and in () expressions or data: concat<1>(x, y); numbers in "
      "braces are concat<0>(x, constant({1.0, 2.0}))");
};
template <class... X>
struct element_is_an_argument : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok, "[onto.element] the element type is known to the compiler: cast<double>(x)");
};
template <class... X>
struct list_has_no_shape : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.operands] numbers in braces have no element type here; make a tensor of them: "
                "matmul(x, tensor<float, 2>{1, 2}); of an array of C constant(k)");
};
template <class... X>
struct operands_are_a_list : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.operands] operands have types of their own and make no list: concat<1>(x, y), stack(x, y); "
                "those of a tuple: std::apply([](auto... e) { return concat<1>(e...); }, several)");
};
/// What `{x, y}`, or a tuple, becomes where operands are expected.
struct list_of_operands {
  template <expression First, expression... More>
    requires(sizeof...(More) > 0)
  constexpr list_of_operands(const First&, const More&...) {
    static_cast<void>(static_cast<typename operands_are_a_list<First, More...>::result*>(nullptr));
  }
  template <scalar_value First, scalar_value... More>
  constexpr list_of_operands(First, More...) {
    static_cast<void>(static_cast<typename concat_joins_operands<First, More...>::result*>(nullptr));
  }
  template <class List>
    requires(!operand<List> && !data<List>)
  constexpr list_of_operands(const List&) {
    static_cast<void>(static_cast<typename operands_are_a_list<List>::result*>(nullptr));
  }
};
#if defined(__CUDACC__)
/// The same, but of no braces in braces: nvcc finds {{1, 2}, {3, 4}} as good for that as for an array of arrays.
struct stray_constant {
  template <class... X>
  constexpr stray_constant(const X&...) {}
};
#else
using stray_constant = stray_argument;
#endif
template <class... X>
struct pad_has_a_value : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.operands] pad puts a value around its operand: pad<padding<1>, padding<2>>(x, 0); edges and "
                "reflections are concat of slices");
};
template <class... X>
struct index_is_a_range : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.axis] of each axis a range: slice<range<0, 2>, range<1, 2>>(x) is x[0:2, 1:2]; an axis of one "
                "element goes by squeeze<1>(e)");
};
template <class... X>
struct clip_has_two_bounds : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok, "[onto.operands] clip takes the operand and two bounds: clip(x, 0, 1); of one maximum(x, 0), minimum(x, 1)");
};
template <class... X>
struct constant_is_of_one_type : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.operands] a constant is a number, a list in braces of one type, or a tensor: constant({1.0, "
                "2.5}), constant(tensor<float, 2>{1, 2.5}); a vector or an array is an operand itself: x + v");
};
template <class... X>
struct said_by_a_comparison : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.operands] these are comparisons: isnan(x) is x != x, isfinite(x) is x - x == 0, isinf(x) is "
                "abs(x) == std::numeric_limits<float>::infinity()");
};
template <class... X>
struct optimizer_is_first : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.optimizer] the optimizer is first: minimize(adam{}, loss), minimize(sgd{.rate = 0.1}, loss, w)");
};
template <class... X>
struct gradient_is_by_an_expression : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.gradient] a gradient is by a placeholder, a variable or an expression, not by data; write "
                "placeholder<\"x\", float, 3> and feed it");
};
template <class... X>
struct gradients_of_several : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok, "[onto.gradient] gradient(loss, w) is by one; by several gradients(loss, w, b), a tuple");
};
/// What `{w, b}` becomes where it is said by what a gradient is.
struct list_to_derive_by {
  template <expression First, expression... More>
  constexpr list_to_derive_by(const First&, const More&...) {
    static_cast<void>(static_cast<typename gradients_of_several<First, More...>::result*>(nullptr));
  }
};
}  // namespace detail

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
ONTO_HAS_NUMBERS_IN_ITS_TYPE(stack, axis_is_an_argument<E>)
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
template <auto... Ranges, expression E>
  requires(std::is_class_v<decltype(Ranges)> || ...)
constexpr auto slice(const E&) { return typename detail::index_is_a_range<E>::result{}; }
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
template <auto... Bounds, expression E>
  requires(sizeof...(Bounds) > 0)
constexpr auto clip(const E&) { return typename detail::clip_has_two_bounds<E>::result{}; }
template <expression E>
constexpr auto cast(const E&) {
  return typename detail::element_is_an_argument<E>::result{};
}
template <expression E, class To>
constexpr auto cast(const E&, const To&) {
  return typename detail::element_is_an_argument<E, To>::result{};
}
template <expression E, class T, std::size_t N>
constexpr auto matmul(const E&, const T (&)[N]) {
  return typename detail::list_has_no_shape<E, T[N]>::result{};
}
template <expression E, class T, std::size_t N>
constexpr auto dot(const E&, const T (&)[N]) {
  return typename detail::list_has_no_shape<E, T[N]>::result{};
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
template <expression E>
constexpr auto isnan(const E&) {
  return typename detail::said_by_a_comparison<E>::result{};
}
template <expression E>
constexpr auto isfinite(const E&) {
  return typename detail::said_by_a_comparison<E>::result{};
}
template <expression E>
constexpr auto isinf(const E&) {
  return typename detail::said_by_a_comparison<E>::result{};
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
