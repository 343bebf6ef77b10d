// SPDX-License-Identifier: BSL-1.0
// Bounds are arguments.
// FAIL: \[onto\.operands\] clip takes the operand and two bounds: clip\(x, 0, 1\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = clip(x, 0, 1);
#else
const auto y = clip<0, 1>(x);
#endif
