// SPDX-License-Identifier: BSL-1.0
// The axis of a reduction is a template argument.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: sum<1>\(x\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto rows = sum<1>(x);
#else
const auto rows = sum(x, 1);
#endif
