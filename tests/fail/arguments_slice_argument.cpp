// SPDX-License-Identifier: BSL-1.0
// Ranges of all axes are template arguments.
// FAIL: \[onto\.axis\] of each axis a range: slice<range<0, 2>, range<1, 2>>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto v = placeholder<"v", float, 3>;

#ifdef ONTO_TWIN
const auto y = slice<range<0, 2>>(v);
#else
const auto y = slice<range<0, 2>>(v, 1);
#endif
