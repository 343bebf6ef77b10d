// SPDX-License-Identifier: BSL-1.0
// One axis, named from the front and from the end.
// FAIL: shape_mistake<.*axis.*onto::op::reduce<.*1, 1>.*onto::shape<4, 5>
#include <onto/ops/reduce.hpp>

#ifdef ONTO_TWIN
#define AXIS -2
#else
#define AXIS -1
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 4, 5>;
constexpr auto bad = max<1, AXIS>(a, keep_extents);
