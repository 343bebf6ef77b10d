// SPDX-License-Identifier: BSL-1.0
// The operand is before its bounds.
// FAIL: \[onto\.operands\] clip takes the operand and two bounds: clip\(x, 0, 1\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto v = placeholder<"v", float, dyn>;

#ifdef ONTO_TWIN
const auto e = clip(v, 0, 1);
#else
const auto e = clip(0, 1, v);
#endif
