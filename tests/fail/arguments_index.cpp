// SPDX-License-Identifier: BSL-1.0
// An index among ranges is a range of one.
// FAIL: \[onto\.axis\] of each axis a range: slice<range<0, 2>, range<1, 2>>\(x\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

using namespace onto;

#ifdef ONTO_TWIN
const auto y = squeeze<1>(slice<range<0, 2>, range<1, 2>>(x));
#else
const auto y = slice<range<0, 2>, 1>(x);
#endif
