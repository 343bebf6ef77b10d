// SPDX-License-Identifier: BSL-1.0
// A sum along an axis that is not there.
// FAIL: shape_mistake<.*axis.*onto::op::scan<.*-3.*onto::shape<4, 5>
#include <onto/ops/scan.hpp>

#ifdef ONTO_TWIN
#define AXIS -2
#else
#define AXIS -3
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 4, 5>;
constexpr auto bad = cumsum<AXIS>(a, reverse);
