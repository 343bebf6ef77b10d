// SPDX-License-Identifier: BSL-1.0
// An expression has no elements yet, by whichever brackets they are asked for.
// FAIL: \[onto\.run\] an expression has no elements before it is run
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto first = onto::slice<0, 1>(x);
#else
const auto first = x(0, 1);
#endif
