// SPDX-License-Identifier: BSL-1.0
// The padding is said once.
// FAIL: \[onto\.shape\] the padding is said once
#include <onto/convolution.hpp>

using namespace onto;
constexpr auto x = placeholder<"x", float, 8, 24, 24, 3>;
constexpr auto w = placeholder<"w", float, 5, 5, 3, 64>;
#ifdef ONTO_TWIN
constexpr auto y = conv2d<padding<1>, padding<2>>(x, w);
#else
constexpr auto y = conv2d<same, padding<2>>(x, w);
#endif
