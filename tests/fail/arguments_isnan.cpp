// SPDX-License-Identifier: BSL-1.0
// NaN is what differs from itself.
// FAIL: \[onto\.operands\] these are comparisons: isnan\(x\) is x != x
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = x != x;
#else
const auto y = isnan(x);
#endif
