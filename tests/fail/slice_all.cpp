// SPDX-License-Identifier: BSL-1.0
// A whole axis is a range, too.
// FAIL: \[onto\.axis\] of each axis a range: .* slice<range<>, range<1, 2>>\(x\) is x\[:, 1:2\]
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 3>;

#ifdef ONTO_TWIN
constexpr auto part = slice<range<>, range<1, to_end>>(x);
#else
constexpr auto part = slice<all, range<1, to_end>>(x);
#endif
