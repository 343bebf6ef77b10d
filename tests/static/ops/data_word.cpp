// SPDX-License-Identifier: BSL-1.0
// Data itself is an argument wherever an expression is: the same expression as with its leaf.
#include <onto/convolution.hpp>
#include <onto/einsum.hpp>
#include <onto/indexing.hpp>
#include <onto/scan.hpp>
#include <onto/sort.hpp>

#include <array>
#include <span>
#include <type_traits>
#include <vector>

using namespace onto;

namespace {

using matrix = tensor<float, 4, 4>&;
using row = tensor<float, 4>&;
using numbers = const tensor<std::int32_t, 2>&;
using image = tensor<float, 1, 4, 4, 1>&;
using filter = tensor<float, 2, 2, 1, 1>&;

template <class X>
using leaf = std::remove_cvref_t<decltype(detail::leaf_of(std::declval<X>()))>;

/// `f` makes the same of data as of its leaves.
template <class... X, class F>
consteval bool takes_data(F) {
  using of_data = decltype(std::declval<F>()(std::declval<X>()...));
  using of_leaves = decltype(std::declval<F>()(std::declval<leaf<X>>()...));
  return std::is_same_v<of_data, of_leaves>;
}

#define WORD(call) [](auto&&... x) { return call(static_cast<decltype(x)>(x)...); }
#define WORD_THEN(call, last) [](auto&&... x) { return call(static_cast<decltype(x)>(x)..., last); }

static_assert(takes_data<matrix>(WORD(var<0>)) && takes_data<matrix>(WORD(stddev)) && takes_data<matrix>(WORD(norm)));
static_assert(takes_data<matrix>(WORD(logsumexp<1>)) && takes_data<matrix>(WORD(softplus)));
static_assert(takes_data<matrix>(WORD_THEN(sum<0>, keep_extents)) && takes_data<matrix>(WORD_THEN(min, keep_extents)));
static_assert(takes_data<matrix>(WORD_THEN(prod<0>, keep_extents)) &&
              takes_data<tensor<bool, 4, 4>&>(WORD_THEN(any<0>, keep_extents)));
static_assert(takes_data<row, row>(WORD(dot)) && takes_data<row, row>(WORD(outer)) &&
              takes_data<tensor<float, 1, 4>&>(WORD(squeeze<0>)));
static_assert(takes_data<row, row, row>(WORD(onto::clip)) && takes_data<row, row, row>(WORD(add_n)));
static_assert(takes_data<row>([](auto&& x) { return clip(x, 0, 1); }) && takes_data<row>(WORD(expand_dims<0>)));
static_assert(takes_data<row, row, row>(WORD(concat<0>)) && takes_data<row, row>(WORD(stack)));
static_assert(takes_data<row>(WORD(repeat<2>)) && takes_data<row>(WORD(tile<2>)) && takes_data<row>(WORD(roll<1>)));
static_assert(takes_data<matrix>(WORD((roll<1, 0>))) && takes_data<matrix>(WORD(flip<1>)));
static_assert(takes_data<matrix>(WORD(split<2>)) && takes_data<row>(WORD((broadcast_to<3, 4>))));
static_assert(takes_data<matrix>(WORD(tril)) && takes_data<matrix>(WORD(triu<1>)));
static_assert(takes_data<row>(WORD((pad<padding<1, 1>>))) && takes_data<matrix, row, row>(WORD(layer_norm)));
static_assert(takes_data<row, row>(WORD(mean_squared_error)) && takes_data<row, row>(WORD(huber)));
static_assert(takes_data<row, row>(WORD(sigmoid_cross_entropy)));
static_assert(takes_data<matrix, matrix>(WORD(softmax_cross_entropy)));

static_assert(takes_data<matrix, numbers>(WORD(take<0>)) && takes_data<matrix, numbers>(WORD(onto::take)));
static_assert(takes_data<matrix, numbers>(WORD(embedding)) &&
              takes_data<matrix, tensor<float, 2, 2>&, numbers>(WORD(update_slice)));
static_assert(takes_data<numbers>(WORD(bincount<3>)) && takes_data<matrix, numbers>(WORD((dynamic_slice<2, 2>))));
static_assert(takes_data<row>([](auto&& x) { return histogram<4>(x, 0, 1); }));
static_assert(takes_data<row, row>(WORD(searchsorted)));
static_assert(takes_data<matrix>(WORD(median<0>)) && takes_data<matrix, row>(WORD(onto::quantile<1>)));
static_assert(takes_data<matrix>(WORD(sort)) && takes_data<matrix>(WORD(argsort)) && takes_data<row>(WORD(top_k<2>)));
static_assert(takes_data<row>(WORD(unique<3>)) && takes_data<matrix>(WORD(cumsum<0>)) && takes_data<row>(WORD(cummax)));
static_assert(takes_data<row>(WORD(cumprod)) && takes_data<row>(WORD(cummin)));
static_assert(takes_data<matrix, matrix>(WORD((einsum<"ij,kj->ik">))));
static_assert(takes_data<image, filter>(WORD(conv2d)) && takes_data<image>(WORD((max_pool2d<window<2, 2>>))));
static_assert(takes_data<image>(WORD((avg_pool2d<window<2, 2>>))));

// Of every kind, and beside an expression.
constexpr auto fed = placeholder<"fed", float, 4>;
static_assert(takes_data<std::vector<float>&>(WORD(cumsum)) && takes_data<std::array<float, 4>&>(WORD(flip<0>)));
static_assert(takes_data<std::span<const float>>(WORD(onto::sort)) && takes_data<tensor_ref<float, 4>>(WORD(norm)));
static_assert(takes_data<row>([](auto&& t) { return dot(fed, t); }));

// The standard's functions of its own types are not hidden: onto's refuse these, and are behind them.
template <class X>
concept has_min = !std::is_same_v<ill_formed, decltype(onto::min(std::declval<X&>(), std::declval<X&>()))>;
static_assert(!has_min<std::vector<float>> && !has_min<tensor<float>>);
namespace beside {
using namespace std;
template <class X>
using least = decltype(min(std::declval<const X&>(), std::declval<const X&>()));
static_assert(std::is_same_v<const std::vector<float>&, least<std::vector<float>>>);
static_assert(std::is_same_v<const tensor<float>&, least<tensor<float>>>);
}  // namespace beside

// A tensor of rank 0 alone is a number.
template <class X>
concept has_outer = !std::is_same_v<ill_formed, decltype(outer(std::declval<X&>(), std::declval<X&>()))>;
static_assert(!has_outer<tensor<float>> && has_outer<tensor<float, 2>>);

}  // namespace
