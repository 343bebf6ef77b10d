// SPDX-License-Identifier: BSL-1.0
// The axis that elements are taken along stands in <>, beside numbers in braces, too.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler
#include <onto/indexing.hpp>

constexpr auto x = onto::placeholder<"x", float, 3, 3>;
#ifdef ONTO_TWIN
const auto y = take<1>(x, {0, 2});
#else
const auto y = take(x, {0, 2}, 1);
#endif
