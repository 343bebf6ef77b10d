// SPDX-License-Identifier: BSL-1.0
// Words whose header is not included, and which are given what they take in the wrong place where it is: each is one
// sentence.
#pragma once
#pragma GCC system_header  // so that messages leave out how its macros expand

#include <onto/expr/data.hpp>
#include <onto/expr/shape_check.hpp>
#include <onto/ops/arguments.hpp>
#include <onto/ops/data_word.hpp>

#include <string>
#include <string_view>

namespace onto {

namespace detail {

// Completed by the headers of their names.
struct scan_header;
struct sort_header;
struct indexing_header;
struct convolution_header;
/// Whether a header is included where a mistake is told of.
template <class Header, class... X>
constexpr bool is_included = requires {
  sizeof(std::conditional_t<(sizeof...(X) > 99), void, Header>);
};

// One struct a mistake, as in shape_check.hpp: without the header, and with it.
#define ONTO_WORDS "cumsum<0>(x), cumsum(x, reverse), and so cumprod, cummax and cummin"
template <class... X>
struct scans_have_a_header : mistake {
  static constexpr bool here = is_included<scan_header, X...>, ok = sizeof...(X) > 99;
  static_assert((here || ok) == true, "[onto.include] with #include <onto/scan.hpp> it is written " ONTO_WORDS);
  static_assert((!here || ok) == true, "[onto.operands] it takes other arguments: " ONTO_WORDS);
};
#undef ONTO_WORDS
#define ONTO_WORDS                                                                                        \
  "sort<0>(x), sort<0>(x, descending), argsort(x), top_k<5>(x), unique<16>(x), median(x), median<0>(x), " \
  "quantile<0>(x, "                                                                                       \
  "0.9)"
template <class... X>
struct sorts_have_a_header : mistake {
  static constexpr bool here = is_included<sort_header, X...>, ok = sizeof...(X) > 99;
  static_assert((here || ok) == true, "[onto.include] with #include <onto/sort.hpp> it is written " ONTO_WORDS);
  static_assert((!here || ok) == true, "[onto.operands] it takes other arguments: " ONTO_WORDS);
};
#undef ONTO_WORDS
#define ONTO_WORDS "take<0>(x, i), take<1>(x, 0), gather<0>(x, i), embedding(table, i), take_along_axis<1>(x, i)"
template <class... X>
struct elements_are_taken_by_number : mistake {
  static constexpr bool here = is_included<indexing_header, X...>, ok = sizeof...(X) > 99;
  static_assert((here || ok) == true, "[onto.include] with #include <onto/indexing.hpp> it is written " ONTO_WORDS);
  static_assert((!here || ok) == true, "[onto.operands] it takes other arguments: " ONTO_WORDS);
};
#undef ONTO_WORDS
#define ONTO_WORDS                                                                                                   \
  "dynamic_slice<2, 2>(x, starts), update_slice(x, update, starts), where starts are {0, 2}, or with an expression " \
  "among "                                                                                                           \
  "them stack(0, k, 0)"
template <class... X>
struct slices_begin_at_numbers : mistake {
  static constexpr bool here = is_included<indexing_header, X...>, ok = sizeof...(X) > 99;
  static_assert((here || ok) == true, "[onto.include] with #include <onto/indexing.hpp> it is written " ONTO_WORDS);
  static_assert((!here || ok) == true, "[onto.operands] it takes other arguments: " ONTO_WORDS);
};
#undef ONTO_WORDS
#define ONTO_WORDS "scatter(x, i, updates), scatter(x, i, 0), scatter_add(x, i, updates)"
template <class... X>
struct updates_are_scattered : mistake {
  static constexpr bool here = is_included<indexing_header, X...>, ok = sizeof...(X) > 99;
  static_assert((here || ok) == true, "[onto.include] with #include <onto/indexing.hpp> it is written " ONTO_WORDS);
  static_assert((!here || ok) == true, "[onto.operands] it takes other arguments: " ONTO_WORDS);
};
#undef ONTO_WORDS
#define ONTO_WORDS "segment_sum<3>(rows, i), segment_max<3>(rows, i), bincount<10>(i), bincount<10>(i, weights)"
template <class... X>
struct segments_are_counted_in_the_type : mistake {
  static constexpr bool here = is_included<indexing_header, X...>, ok = sizeof...(X) > 99;
  static_assert((here || ok) == true, "[onto.include] with #include <onto/indexing.hpp> it is written " ONTO_WORDS);
  static_assert((!here || ok) == true, "[onto.operands] it takes other arguments: " ONTO_WORDS);
};
#undef ONTO_WORDS
#define ONTO_WORDS                                                                                            \
  "histogram<10>(x, 0, 1), with the number of bins in the type and the bounds as numbers; those of data are " \
  "evaluate(min(x)) and evaluate(max(x))"
template <class... X>
struct bins_are_between_numbers : mistake {
  static constexpr bool here = is_included<indexing_header, X...>, ok = sizeof...(X) > 99;
  static_assert((here || ok) == true, "[onto.include] with #include <onto/indexing.hpp> it is written " ONTO_WORDS);
  static_assert((!here || ok) == true, "[onto.operands] it takes other arguments: " ONTO_WORDS);
};
#undef ONTO_WORDS
#define ONTO_WORDS "searchsorted(s, x), searchsorted(s, x, right_side)"
template <class... X>
struct searched_is_what_is_sorted : mistake {
  static constexpr bool here = is_included<indexing_header, X...>, ok = sizeof...(X) > 99;
  static_assert((here || ok) == true, "[onto.include] with #include <onto/indexing.hpp> it is written " ONTO_WORDS);
  static_assert((!here || ok) == true, "[onto.operands] it takes other arguments: " ONTO_WORDS);
};
#undef ONTO_WORDS
#define ONTO_WORDS "extent<0>(x)"
template <class... X>
struct extent_is_of_an_axis : mistake {
  static constexpr bool here = is_included<indexing_header, X...>, ok = sizeof...(X) > 99;
  static_assert((here || ok) == true, "[onto.include] with #include <onto/indexing.hpp> it is written " ONTO_WORDS);
  static_assert((!here || ok) == true, "[onto.operands] it takes other arguments: " ONTO_WORDS);
};
#undef ONTO_WORDS
#define ONTO_WORDS                                                                                   \
  "conv2d<strides<2>, same>(x, w), conv1d(x, w), depthwise_conv2d(x, w), max_pool2d<window<2>>(x), " \
  "avg_pool2d<window<3>, strides<2>>(x)"
template <class... X>
struct convolutions_have_a_header : mistake {
  static constexpr bool here = is_included<convolution_header, X...>, ok = sizeof...(X) > 99;
  static_assert((here || ok) == true, "[onto.include] with #include <onto/convolution.hpp> it is written " ONTO_WORDS);
  static_assert((!here || ok) == true, "[onto.operands] it takes other arguments: " ONTO_WORDS);
};
#undef ONTO_WORDS
template <class... X>
struct einsum_has_a_header : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.include] write einsum<\"ij,jk->ik\">(x, y) with #include <onto/einsum.hpp>");
};
template <class... X>
struct archives_have_a_header : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.include] write load_npz<float, dyn>(\"a.npz\", \"w\") with #include <onto/npz.hpp>");
};

}  // namespace detail

// What has a header of its own, and what that is given.
#define ONTO_HAS_A_HEADER(Kind, word, mistake)                                         \
  template <Kind... Written, class E, class... More>                                   \
    requires((expression<E> || detail::scalar_value<E>)&&!(detail::data<More> || ...)) \
  constexpr auto word(const E&, const More&...) { return typename detail::mistake<E, More...>::result{}; }
// Data are taken here and not by the header, so that a tensor's missing header is told of, too.
#define ONTO_TAKES_DATA_BY_A_HEADER(word, mistake) \
  ONTO_HAS_A_HEADER(auto, word, mistake)           \
  ONTO_TAKES_DATA(auto, word)
// And numbers in braces, `take<0>(x, {0, 2})`.
#define ONTO_TAKES_NUMBERS_BY_A_HEADER(word, mistake)                 \
  ONTO_TAKES_DATA_BY_A_HEADER(word, mistake)                          \
  template <auto... Written, class X, std::size_t N>                  \
  constexpr auto word(const X&, const detail::stray_argument(&)[N]) { \
    return typename detail::mistake<X>::result{};                     \
  }
// And updates beside them.
#define ONTO_TAKES_UPDATES_BY_A_HEADER(word, mistake)                                         \
  ONTO_TAKES_DATA_BY_A_HEADER(word, mistake)                                                  \
  template <auto... Written, class X, std::size_t N>                                          \
  constexpr auto word(const X&, const detail::stray_argument(&)[N], detail::stray_argument) { \
    return typename detail::mistake<X>::result{};                                             \
  }
// What has options by words, `conv2d<strides<2>, same>(x, w)`, and none by numbers.
#define ONTO_TAKES_OPTIONS_BY_A_HEADER(word, mistake)           \
  ONTO_HAS_A_HEADER(class, word, mistake)                       \
  ONTO_TAKES_DATA(class, word)                                  \
  template <int Number, int... Numbers, class E, class... More> \
    requires(detail::of_onto<E> || detail::data<E>)             \
  constexpr auto word(const E&, const More&...) { return typename detail::mistake<E, More...>::result{}; }
// Where the direction stands with the axis.
template <auto Order, expression E>
  requires(!std::is_integral_v<std::remove_const_t<decltype(Order)>>)
constexpr auto sort(const E&) { return typename detail::sorts_have_a_header<E>::result{}; }
template <auto Order, expression E>
  requires(!std::is_integral_v<std::remove_const_t<decltype(Order)>>)
constexpr auto argsort(const E&) { return typename detail::sorts_have_a_header<E>::result{}; }
ONTO_TAKES_DATA_BY_A_HEADER(cumsum, scans_have_a_header)
ONTO_TAKES_DATA_BY_A_HEADER(cumprod, scans_have_a_header)
ONTO_TAKES_DATA_BY_A_HEADER(cummax, scans_have_a_header)
ONTO_TAKES_DATA_BY_A_HEADER(cummin, scans_have_a_header)
ONTO_TAKES_DATA_BY_A_HEADER(sort, sorts_have_a_header)
ONTO_TAKES_DATA_BY_A_HEADER(argsort, sorts_have_a_header)
ONTO_TAKES_DATA_BY_A_HEADER(top_k, sorts_have_a_header)
ONTO_TAKES_DATA_BY_A_HEADER(unique, sorts_have_a_header)
ONTO_TAKES_DATA_BY_A_HEADER(median, sorts_have_a_header)
ONTO_TAKES_DATA_BY_A_HEADER(quantile, sorts_have_a_header)
ONTO_TAKES_NUMBERS_BY_A_HEADER(take, elements_are_taken_by_number)
ONTO_TAKES_NUMBERS_BY_A_HEADER(gather, elements_are_taken_by_number)
ONTO_TAKES_NUMBERS_BY_A_HEADER(embedding, elements_are_taken_by_number)
ONTO_TAKES_NUMBERS_BY_A_HEADER(take_along_axis, elements_are_taken_by_number)
ONTO_TAKES_NUMBERS_BY_A_HEADER(dynamic_slice, slices_begin_at_numbers)
ONTO_TAKES_DATA_BY_A_HEADER(update_slice, slices_begin_at_numbers)
ONTO_TAKES_UPDATES_BY_A_HEADER(scatter, updates_are_scattered)
ONTO_TAKES_UPDATES_BY_A_HEADER(scatter_add, updates_are_scattered)
ONTO_TAKES_NUMBERS_BY_A_HEADER(segment_sum, segments_are_counted_in_the_type)
ONTO_TAKES_NUMBERS_BY_A_HEADER(segment_max, segments_are_counted_in_the_type)
ONTO_TAKES_NUMBERS_BY_A_HEADER(segment_min, segments_are_counted_in_the_type)
ONTO_TAKES_DATA_BY_A_HEADER(bincount, segments_are_counted_in_the_type)
ONTO_HAS_A_HEADER(auto, histogram, bins_are_between_numbers)
ONTO_TAKES_DATA_ALONE(auto, histogram)
ONTO_TAKES_DATA_BY_A_HEADER(searchsorted, searched_is_what_is_sorted)
ONTO_TAKES_DATA_BY_A_HEADER(extent, extent_is_of_an_axis)
ONTO_TAKES_OPTIONS_BY_A_HEADER(conv2d, convolutions_have_a_header)
ONTO_TAKES_OPTIONS_BY_A_HEADER(conv1d, convolutions_have_a_header)
ONTO_TAKES_OPTIONS_BY_A_HEADER(depthwise_conv2d, convolutions_have_a_header)
ONTO_TAKES_OPTIONS_BY_A_HEADER(conv2d_transpose, convolutions_have_a_header)
ONTO_TAKES_OPTIONS_BY_A_HEADER(max_pool2d, convolutions_have_a_header)
ONTO_TAKES_OPTIONS_BY_A_HEADER(avg_pool2d, convolutions_have_a_header)
#undef ONTO_TAKES_OPTIONS_BY_A_HEADER
#undef ONTO_TAKES_UPDATES_BY_A_HEADER
#undef ONTO_TAKES_NUMBERS_BY_A_HEADER
#undef ONTO_TAKES_DATA_BY_A_HEADER
#undef ONTO_HAS_A_HEADER
template <tensor_element Written, expression E, class... More>
constexpr auto cumsum(const E&, const More&...) {
  return typename detail::axis_is_a_number<Written, E>::result{};
}
template <tensor_element Written, expression E, class... More>
constexpr auto cumprod(const E&, const More&...) {
  return typename detail::axis_is_a_number<Written, E>::result{};
}
template <class X, class U, std::size_t N>
constexpr auto update_slice(const X&, const U&, const detail::stray_argument (&)[N]) {
  return typename detail::slices_begin_at_numbers<X, U>::result{};
}
// Whatever takes operands as they are comes first.
template <fixed_string Letters>
constexpr auto einsum(detail::stray_argument, detail::stray_argument = {}, detail::stray_argument = {},
                      detail::stray_argument = {}) {
  return typename detail::einsum_has_a_header<text_of<Letters>>::result{};
}
template <class T, int... Dims>
auto load_npz(const std::string&, std::string_view) {
  return typename detail::archives_have_a_header<T>::result{};
}

}  // namespace onto
