// SPDX-License-Identifier: BSL-1.0
// A stride goes on.
// FAIL: \[onto\.shape\] strides and dilation are 1 or more
#include <onto/convolution.hpp>

using namespace onto;
constexpr auto x = placeholder<"x", float, 8, 24, 24, 3>;
#ifdef ONTO_TWIN
constexpr auto y = max_pool2d<window<2>, strides<1>>(x);
#else
constexpr auto y = max_pool2d<window<2>, strides<0>>(x);
#endif
