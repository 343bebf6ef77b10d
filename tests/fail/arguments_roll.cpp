// SPDX-License-Identifier: BSL-1.0
// How far and along which axis is known to the compiler.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: .*roll<1, 0>\(x\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = onto::roll<1, 0>(x);
#else
const auto y = onto::roll<0>(x, 1);
#endif
