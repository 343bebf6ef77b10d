// SPDX-License-Identifier: BSL-1.0
// Images have a batch.
// FAIL: \[onto\.shape\] a convolution takes images and a filter of as many dimensions
#include <onto/convolution.hpp>

#ifdef ONTO_TWIN
constexpr auto x = onto::placeholder<"x", float, 1, 24, 24, 3>;
#else
constexpr auto x = onto::placeholder<"x", float, 24, 24, 3>;
#endif
constexpr auto w = onto::placeholder<"w", float, 5, 5, 3, 64>;
constexpr auto y = onto::conv2d(x, w);
