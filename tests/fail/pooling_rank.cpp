// SPDX-License-Identifier: BSL-1.0
// Images have channels.
// FAIL: \[onto\.shape\] pooling takes images
#include <onto/convolution.hpp>

using namespace onto;
#ifdef ONTO_TWIN
constexpr auto x = placeholder<"x", float, 8, 24, 24, 1>;
#else
constexpr auto x = placeholder<"x", float, 8, 24, 24>;
#endif
constexpr auto y = max_pool2d<window<2>>(x);
