// SPDX-License-Identifier: BSL-1.0
// A sort along an axis that is not there.
// FAIL: shape_mistake<.*axis.*onto::op::sort<.*2.*onto::shape<4, 5>
#include <onto/ops/sort.hpp>

#ifdef ONTO_TWIN
#define AXIS 1
#else
#define AXIS 2
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 4, 5>;
constexpr auto bad = sort<AXIS>(a, descending);
