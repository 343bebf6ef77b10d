// SPDX-License-Identifier: BSL-1.0
// Words that were given their axes in the wrong place, and words whose header is not included: each is one sentence.
#pragma once

#include <onto/expr/shape_check.hpp>
#include <onto/ops/data_word.hpp>
#include <onto/ops/operation_base.hpp>

#include <cstddef>

namespace onto {

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
                "slice<0, 2>(x), concat<1>(x, y), roll<1, 0>(x)");
};
template <class Op, class... X>
struct axes_or_two : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.axis] max and min are over axes: max<1>(x); of two operands, element by element: maximum(x, y), "
                "minimum(x, y)");
};
template <class... X>
struct where_chooses_between_two : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok, "[onto.operands] where chooses between two, element by element: where(condition, a, b)");
};
template <class T>
struct extents_are_arguments : mistake {
  static constexpr bool ok = sizeof(T) == 0;
  static_assert(ok,
                "[onto.shape] extents are known to the compiler: zeros<float, 2, 3>(), ones<float, 2, 3>(), "
                "eye<float, 3>(), linspace<float, 5>(0, 1), iota<float, 5>()");
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
                "matmul(x, tensor<float, 2>{1, 2})");
};
template <class... X>
struct operands_are_a_list : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok, "[onto.operands] operands have types of their own and make no list: concat<1>(x, y), stack(x, y)");
};
/// What `{x, y}` becomes where operands are expected.
struct list_of_operands {
  template <expression First, expression... More>
    requires(sizeof...(More) > 0)
  constexpr list_of_operands(const First&, const More&...) {
    static_cast<void>(static_cast<typename operands_are_a_list<First, More...>::result*>(nullptr));
  }
};
template <class... X>
struct scans_have_a_header : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.include] cumsum, cumprod, cummax and cummin are in #include <onto/scan.hpp>; an axis stands in "
                "<>: cumsum<0>(x)");
};
template <class... X>
struct sorts_have_a_header : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok,
                "[onto.include] sort, argsort, top_k and unique are in #include <onto/sort.hpp>; numbers stand in <>: "
                "sort<0>(x), top_k<5>(x), unique<16>(x)");
};

template <class... X>
struct indexing_has_a_header : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok,
      "[onto.include] take, gather, scatter, segment_sum, bincount, histogram, searchsorted, extent and the like are "
      "in #include <onto/indexing.hpp>; numbers stand in <>: take<0>(x, k), bincount<10>(k)");
};

template <class I>
concept run_time_integer = std::is_integral_v<I> || number_in_type<I>;

}  // namespace detail

template <expression C, detail::operand... X>
  requires(sizeof...(X) < 2)
constexpr auto where(const C&, const X&...) { return typename detail::where_chooses_between_two<C, X...>::result{}; }
template <expression E, detail::operand X>
constexpr auto sum(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <expression E, std::size_t N>
constexpr auto sum(const E&, const int (&)[N]) {
  return typename detail::axis_is_an_argument<E, int[N]>::result{};
}
template <expression E, std::size_t N>
constexpr auto prod(const E&, const int (&)[N]) {
  return typename detail::axis_is_an_argument<E, int[N]>::result{};
}
template <expression E, std::size_t N>
constexpr auto min(const E&, const int (&)[N]) {
  return typename detail::axis_is_an_argument<E, int[N]>::result{};
}
template <expression E, std::size_t N>
constexpr auto max(const E&, const int (&)[N]) {
  return typename detail::axis_is_an_argument<E, int[N]>::result{};
}
template <expression E, std::size_t N>
constexpr auto mean(const E&, const int (&)[N]) {
  return typename detail::axis_is_an_argument<E, int[N]>::result{};
}
template <expression E, detail::operand X>
constexpr auto prod(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <expression E, detail::operand X>
constexpr auto min(const E&, const X&) {
  return typename detail::axes_or_two<op::minimum, E, X>::result{};
}
template <detail::scalar_value S, expression E>
constexpr auto min(S, const E&) {
  return typename detail::axes_or_two<op::minimum, S, E>::result{};
}
template <expression E, detail::operand X>
constexpr auto max(const E&, const X&) {
  return typename detail::axes_or_two<op::maximum, E, X>::result{};
}
template <detail::scalar_value S, expression E>
constexpr auto max(S, const E&) {
  return typename detail::axes_or_two<op::maximum, S, E>::result{};
}
template <expression E, detail::operand X>
constexpr auto mean(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <int... Axes, expression E, detail::operand X>
constexpr auto var(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <int... Axes, expression E, detail::operand X>
constexpr auto stddev(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <int... Axes, expression E, detail::operand X>
constexpr auto norm(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <int... Axes, expression E, detail::operand X>
constexpr auto logsumexp(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <expression E, detail::operand X>
constexpr auto any(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <expression E, detail::operand X>
constexpr auto all(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <expression E, detail::operand X>
constexpr auto argmin(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <expression E, detail::operand X>
constexpr auto argmax(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <expression E, detail::operand X>
constexpr auto softmax(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}
template <expression E, detail::operand X>
constexpr auto log_softmax(const E&, const X&) {
  return typename detail::axis_is_an_argument<E, X>::result{};
}

// What is asked for by numbers in <>, and was given them in ().
#define ONTO_HAS_NUMBERS_IN_ITS_TYPE(word)                               \
  template <int... Written, expression E, detail::run_time_integer... I> \
    requires(sizeof...(I) > 0)                                           \
  constexpr auto word(const E&, I...) { return typename detail::axis_is_an_argument<E, I...>::result{}; }
ONTO_HAS_NUMBERS_IN_ITS_TYPE(reshape)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(transpose)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(permute)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(slice)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(squeeze)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(expand_dims)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(roll)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(flip)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(repeat)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(tile)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(split)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(broadcast_to)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(one_hot)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(tril)
ONTO_HAS_NUMBERS_IN_ITS_TYPE(triu)
#undef ONTO_HAS_NUMBERS_IN_ITS_TYPE

template <expression E, std::size_t N>
constexpr auto reshape(const E&, const int (&)[N]) {
  return typename detail::axis_is_an_argument<E, int[N]>::result{};
}
template <expression E, std::size_t N>
constexpr auto transpose(const E&, const int (&)[N]) {
  return typename detail::axis_is_an_argument<E, int[N]>::result{};
}
template <expression E, std::size_t N>
constexpr auto permute(const E&, const int (&)[N]) {
  return typename detail::axis_is_an_argument<E, int[N]>::result{};
}
template <expression First, expression Second, detail::run_time_integer I>
constexpr auto concat(const First&, const Second&, I) {
  return typename detail::axis_is_an_argument<First, I>::result{};
}
template <expression First, expression Second, expression... More>
constexpr auto concat(const First&, const Second&, const More&...) {
  return typename detail::axis_is_an_argument<First, Second>::result{};
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
constexpr ill_formed concat(const detail::list_of_operands&) {
  return {};
}
template <int... Axis>
constexpr ill_formed stack(const detail::list_of_operands&) {
  return {};
}
template <class T = float, detail::run_time_integer... I>
  requires(sizeof...(I) > 0)
constexpr auto zeros(I...) { return typename detail::extents_are_arguments<T>::result{}; }
template <class T = float, detail::run_time_integer... I>
  requires(sizeof...(I) > 0)
constexpr auto ones(I...) { return typename detail::extents_are_arguments<T>::result{}; }
template <class T = float, detail::run_time_integer... I>
  requires(sizeof...(I) > 0)
constexpr auto eye(I...) { return typename detail::extents_are_arguments<T>::result{}; }
template <class T = float, detail::run_time_integer... I>
  requires(sizeof...(I) > 0)
constexpr auto iota(I...) { return typename detail::extents_are_arguments<T>::result{}; }
template <class T = float, detail::scalar_value L, detail::scalar_value R, detail::run_time_integer I>
constexpr auto linspace(L, R, I) {
  return typename detail::extents_are_arguments<T>::result{};
}
template <class T = float, std::size_t N>
constexpr auto zeros(const int (&)[N]) {
  return typename detail::extents_are_arguments<T>::result{};
}
template <class T = float, std::size_t N>
constexpr auto ones(const int (&)[N]) {
  return typename detail::extents_are_arguments<T>::result{};
}
// What has a header of its own, which was not included.
#define ONTO_HAS_A_HEADER(word, mistake)                 \
  template <int... Written, expression E, class... More> \
    requires(!(detail::data_alone<More> || ...))         \
  constexpr auto word(const E&, const More&...) { return typename detail::mistake<E, More...>::result{}; }
ONTO_HAS_A_HEADER(cumsum, scans_have_a_header)
ONTO_HAS_A_HEADER(cumprod, scans_have_a_header)
ONTO_HAS_A_HEADER(cummax, scans_have_a_header)
ONTO_HAS_A_HEADER(cummin, scans_have_a_header)
ONTO_HAS_A_HEADER(sort, sorts_have_a_header)
ONTO_HAS_A_HEADER(argsort, sorts_have_a_header)
ONTO_HAS_A_HEADER(top_k, sorts_have_a_header)
ONTO_HAS_A_HEADER(unique, sorts_have_a_header)
ONTO_HAS_A_HEADER(take, indexing_has_a_header)
ONTO_HAS_A_HEADER(gather, indexing_has_a_header)
ONTO_HAS_A_HEADER(embedding, indexing_has_a_header)
ONTO_HAS_A_HEADER(take_along_axis, indexing_has_a_header)
ONTO_HAS_A_HEADER(dynamic_slice, indexing_has_a_header)
ONTO_HAS_A_HEADER(update_slice, indexing_has_a_header)
ONTO_HAS_A_HEADER(scatter, indexing_has_a_header)
ONTO_HAS_A_HEADER(scatter_add, indexing_has_a_header)
ONTO_HAS_A_HEADER(segment_sum, indexing_has_a_header)
ONTO_HAS_A_HEADER(bincount, indexing_has_a_header)
ONTO_HAS_A_HEADER(histogram, indexing_has_a_header)
ONTO_HAS_A_HEADER(searchsorted, indexing_has_a_header)
ONTO_HAS_A_HEADER(extent, indexing_has_a_header)
#undef ONTO_HAS_A_HEADER

// Those of the headers themselves too.
ONTO_TAKES_DATA(auto, cumsum)
ONTO_TAKES_DATA(auto, cumprod)
ONTO_TAKES_DATA(auto, cummax)
ONTO_TAKES_DATA(auto, cummin)
ONTO_TAKES_DATA(auto, sort)
ONTO_TAKES_DATA(auto, argsort)
ONTO_TAKES_DATA(auto, top_k)
ONTO_TAKES_DATA(auto, unique)

}  // namespace onto
