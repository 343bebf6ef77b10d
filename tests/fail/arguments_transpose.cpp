// SPDX-License-Identifier: BSL-1.0
// An order of axes is given to permute.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: sum<1>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = permute<1, 0>(x);
#else
const auto y = transpose<1, 0>(x);
#endif
