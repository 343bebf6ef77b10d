// SPDX-License-Identifier: BSL-1.0
// An axis the operand does not have.
// FAIL: shape_mistake<.*axis.*onto::op::reduce<.*2>.*onto::shape<4, 5>
// FAIL: \[onto\.axis\] an axis is out of range, named twice or left out
#include <onto/ops/reduce.hpp>

#ifdef ONTO_TWIN
#define AXIS 1
#else
#define AXIS 2
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 4, 5>;
constexpr auto bad = sum<AXIS>(a);
