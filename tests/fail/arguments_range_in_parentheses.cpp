// SPDX-License-Identifier: BSL-1.0
// The bounds of a range stand in <>.
// FAIL: \[onto\.axis\] of each axis a range: slice<range<0, 2>, range<1, 2>>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 3>;

#ifdef ONTO_TWIN
const auto y = slice<range<0, 2>>(x);
#else
const auto y = slice<range(0, 2)>(x);
#endif
