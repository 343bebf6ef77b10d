// SPDX-License-Identifier: BSL-1.0
// Every window of pooling has an element of the image.
// FAIL: \[onto\.shape\] the padding of pooling is less than its window
#include <onto/convolution.hpp>

using namespace onto;
constexpr auto x = placeholder<"x", float, 8, 24, 24, 3>;
#ifdef ONTO_TWIN
constexpr auto y = avg_pool2d<window<2>, padding<1>>(x);
#else
constexpr auto y = avg_pool2d<window<2>, padding<2>>(x);
#endif
