// SPDX-License-Identifier: BSL-1.0
// Two axes at once.
// FAIL: \[onto\.axis\] roll<1, 0>\(x\) goes by 1 along axis 0
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 4>;

#ifdef ONTO_TWIN
constexpr auto e = roll<1, 0>(roll<1, 1>(x));
#else
constexpr auto e = roll<1, 1, 0, 1>(x);
#endif
