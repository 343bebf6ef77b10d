// SPDX-License-Identifier: BSL-1.0
// Windows and strides have words.
// FAIL: \[onto\.operands\] it takes other arguments: conv2d<strides<2>, same>\(x, w\), .*max_pool2d<window<2>>\(x\)
#include <onto/convolution.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 8, 8, 3>;
constexpr auto k = placeholder<"k", float, 3, 3, 3, 4>;

#ifdef ONTO_TWIN
const auto y = max_pool2d<window<2>>(x);
#else
const auto y = max_pool2d<2>(x);
#endif
