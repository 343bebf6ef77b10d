// SPDX-License-Identifier: BSL-1.0
// A range is two comparisons.
// FAIL: and 0 < x < 1 as \(0 < x\) & \(x < 1\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = (0 < x) & (x < 1);
#else
const auto y = 0 < x < 1;
#endif
