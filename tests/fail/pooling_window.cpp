// SPDX-License-Identifier: BSL-1.0
// Pooling says its window.
// FAIL: \[onto\.shape\] pooling has a window
#include <onto/convolution.hpp>

using namespace onto;
constexpr auto x = placeholder<"x", float, 8, 24, 24, 3>;
#ifdef ONTO_TWIN
constexpr auto y = max_pool2d<window<2>, strides<2>>(x);
#else
constexpr auto y = max_pool2d<strides<2>>(x);
#endif
