// SPDX-License-Identifier: BSL-1.0
// The axes of a norm, a variance and the like are template arguments.
// FAIL: \[onto\.axis\] an axis stands in <>: var<1>\(x\), norm<1>\(x\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto rows = norm<1>(x);
#else
const auto rows = norm(x, 1);
#endif
