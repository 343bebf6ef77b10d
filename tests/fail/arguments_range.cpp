// SPDX-License-Identifier: BSL-1.0
// A range is a template argument.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: .*slice<0, 2>\(x\)
#include <onto/onto.hpp>

using onto::slice;

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = slice<0, 1>(x);
#else
const auto y = slice(x, 0, 1);
#endif
