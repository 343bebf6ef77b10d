// SPDX-License-Identifier: BSL-1.0
// Axes are no list.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: sum<1>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = sum<0, 1>(x);
#else
const auto y = sum(x, {0, 1});
#endif
