// SPDX-License-Identifier: BSL-1.0
// Groups share the results equally.
// FAIL: \[onto\.shape\] the groups do not share the filter's results equally
#include <onto/convolution.hpp>

constexpr auto x = onto::placeholder<"x", float, 8, 24, 24, 4>;
#ifdef ONTO_TWIN
constexpr auto w = onto::placeholder<"w", float, 5, 5, 2, 6>;
#else
constexpr auto w = onto::placeholder<"w", float, 5, 5, 2, 7>;
#endif
constexpr auto y = onto::conv2d<onto::groups<2>>(x, w);
