// SPDX-License-Identifier: BSL-1.0
// A slice that steps nowhere.
// FAIL: shape_mistake<.*range.*onto::op::slice<onto::range<0, 4, 0>.*onto::shape<9>
// FAIL: \[onto\.shape\] slice: a step above 0 leads to to_end, one below 0 to to_begin, 0 nowhere
#include <onto/ops/view.hpp>

#ifdef ONTO_TWIN
#define STEP 1
#else
#define STEP 0
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 9>;
constexpr auto bad = slice<0, 4, STEP>(a);
