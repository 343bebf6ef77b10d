// SPDX-License-Identifier: BSL-1.0
// A list of numbers as the first value of a variable without extents.
// FAIL: \[onto\.variable\] a variable begins with an expression, a tensor, a list nested as its extents or one number
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto v = variable<"v", float, 3>({1, 2, 3});
#else
const auto v = variable<"v", float>({1, 2, 3});
#endif
