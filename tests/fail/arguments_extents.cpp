// SPDX-License-Identifier: BSL-1.0
// Extents are template arguments.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: .*reshape<2, 3>\(x\)
#include <onto/onto.hpp>

using onto::reshape;

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = reshape<3, 2>(x);
#else
const auto y = reshape(x, {3, 2});
#endif
