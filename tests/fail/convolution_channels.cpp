// SPDX-License-Identifier: BSL-1.0
// A filter is for as many channels as the image has.
// FAIL: \[onto\.shape\] the filter is not for the image's channels
#include <onto/convolution.hpp>

constexpr auto x = onto::placeholder<"x", float, 8, 24, 24, 3>;
#ifdef ONTO_TWIN
constexpr auto w = onto::placeholder<"w", float, 5, 5, 3, 64>;
#else
constexpr auto w = onto::placeholder<"w", float, 5, 5, 64, 3>;
#endif
constexpr auto y = onto::conv2d(x, w);
