// SPDX-License-Identifier: BSL-1.0
// An axis is kept by an argument, not a number of the type.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: .*sum<1>\(x, keep_extents\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

using namespace onto;

#ifdef ONTO_TWIN
const auto y = sum<0>(x, keep_extents);
#else
const auto y = sum<0, keep_extents>(x);
#endif
