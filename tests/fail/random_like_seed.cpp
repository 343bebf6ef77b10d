// SPDX-License-Identifier: BSL-1.0
// A seed is an integer, in the shape of another tensor too.
// FAIL: \[onto\.element\] a seed is an integer, or an expression of one
#include <onto/onto.hpp>

using namespace onto;

const auto x = placeholder<"x", float, dyn>;

#ifdef ONTO_TWIN
const auto e = random_normal_like(x, 1);
#else
const auto e = random_normal_like(x, 1.5);
#endif
