// SPDX-License-Identifier: BSL-1.0
// That axes are kept is a word.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: sum<1>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = sum<1>(x, keep_extents);
#else
const auto y = sum<1>(x, true);
#endif
