// SPDX-License-Identifier: BSL-1.0
// The operand is first, and there are two bounds.
// FAIL: \[onto\.operands\] clip takes the operand and two bounds: clip\(x, 0, 1\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = clip(x, 0, 1);
#else
const auto y = clip(x, 0);
#endif
