// SPDX-License-Identifier: BSL-1.0
// Extents that a run decides are compared in parentheses.
// FAIL: deleted
// FAIL(g++): \[onto\.tensor\] a run compares the extents, in parentheses
// FAIL(clang++): \[onto\.tensor\] a run compares the extents, in parentheses
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, dyn, dyn>;
const tensor<float, 2, 3> t;

#ifdef ONTO_TWIN
const tensor<float, 2, 3> z(evaluate(x * 2, x = t));
#else
const tensor<float, 2, 3> z = evaluate(x * 2, x = t);
#endif
