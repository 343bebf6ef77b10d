// SPDX-License-Identifier: BSL-1.0
// As x[:, 0] is written elsewhere.
// FAIL: \[onto\.axis\] of each axis a range: .* slice<range<>, range<1, 2>>\(x\) is x\[:, 1:2\]
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 3>;

#ifdef ONTO_TWIN
constexpr auto part = squeeze<1>(slice<range<>, range<0, 1>>(x));
#else
constexpr auto part = slice<all, 0>(x);
#endif
