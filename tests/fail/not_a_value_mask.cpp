// SPDX-License-Identifier: BSL-1.0
// A condition in brackets chooses no elements.
// FAIL: \[onto\.run\] an expression has no elements .* of what a condition chooses where\(x > 0, x, 0\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto total = sum(where(x > 1, x, 0));
#else
const auto total = sum(x[x > 1]);
#endif
