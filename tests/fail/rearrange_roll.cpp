// SPDX-License-Identifier: BSL-1.0
// A roll along an axis that the operand lacks.
// FAIL: \[onto\.axis\] an axis is out of range
#include <onto/ops/rearrange.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, dyn>;
#ifdef ONTO_TWIN
constexpr int axis = -1;
#else
constexpr int axis = 1;
#endif
constexpr auto bad = roll<2, axis>(a);
