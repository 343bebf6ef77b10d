// SPDX-License-Identifier: BSL-1.0
// A window fits into the image, with what is around it.
// FAIL: \[onto\.shape\] no window fits into the image
#include <onto/convolution.hpp>

using namespace onto;
constexpr auto x = placeholder<"x", float, 8, 4, 4, 3>;
constexpr auto w = placeholder<"w", float, 5, 5, 3, 64>;
#ifdef ONTO_TWIN
constexpr auto y = conv2d<same>(x, w);
#else
constexpr auto y = conv2d(x, w);
#endif
