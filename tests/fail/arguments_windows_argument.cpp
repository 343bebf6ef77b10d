// SPDX-License-Identifier: BSL-1.0
// They are template arguments.
// FAIL: \[onto\.operands\] it takes other arguments: conv2d<strides<2>, same>\(x, w\), .*max_pool2d<window<2>>\(x\)
#include <onto/convolution.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 8, 8, 3>;
constexpr auto k = placeholder<"k", float, 3, 3, 3, 4>;

#ifdef ONTO_TWIN
const auto y = conv2d<strides<2>>(x, k);
#else
const auto y = conv2d(x, k, 2);
#endif
