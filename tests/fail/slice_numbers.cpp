// SPDX-License-Identifier: BSL-1.0
// Two ranges as four numbers.
// FAIL: \[onto\.axis\] of each axis a range: slice<range<0, 2>, range<1, 2>>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 4>;

#ifdef ONTO_TWIN
constexpr auto e = slice<range<0, 1>, range<0, 1>>(x);
#else
constexpr auto e = slice<0, 1, 0, 1>(x);
#endif
