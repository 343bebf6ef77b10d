// SPDX-License-Identifier: BSL-1.0
// An element that is asked for too early, within a larger expression: nothing is said of what it stands in.
// FAIL: \[onto\.run\] an expression has no elements before it is run
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto total = sum(onto::slice<0, 1>(x)) + 1;
#else
const auto total = sum(x(0)) + 1;
#endif
