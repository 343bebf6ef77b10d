// SPDX-License-Identifier: BSL-1.0
// The maximum of nothing.
// FAIL: shape_mistake<.*empty.*onto::op::reduce<.*0>.*onto::shape<0, 5>
// FAIL: \[onto\.shape\] a minimum or maximum over no elements has no value
#include <onto/ops/reduce.hpp>

#ifdef ONTO_TWIN
#define AXIS 1
#else
#define AXIS 0
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 0, 5>;
constexpr auto bad = max<AXIS>(a);
