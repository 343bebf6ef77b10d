// SPDX-License-Identifier: BSL-1.0
// Numbers in braces are not known to the compiler either.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: sum<1>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = tile<2, 1>(x);
#else
const auto y = tile(x, {2, 1});
#endif
