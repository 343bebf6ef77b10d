// SPDX-License-Identifier: BSL-1.0
// Which axis is left out is said.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: sum<1>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 1, 3>;

#ifdef ONTO_TWIN
const auto y = squeeze<0>(x);
#else
const auto y = squeeze(x);
#endif
