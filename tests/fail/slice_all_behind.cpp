// SPDX-License-Identifier: BSL-1.0
// A whole axis behind another is one, too.
// FAIL: \[onto\.axis\] of each axis a range: .* slice<range<>, range<1, 2>>\(x\) is x\[:, 1:2\]
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 3>;

#ifdef ONTO_TWIN
constexpr auto part = slice<range<1, to_end>, range<>>(x);
#else
constexpr auto part = slice<range<1, to_end>, all>(x);
#endif
