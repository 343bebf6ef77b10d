// SPDX-License-Identifier: BSL-1.0
// Widths are known to the compiler.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: sum<1>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = pad<padding<1>>(x);
#else
const auto y = pad(x, 1);
#endif
