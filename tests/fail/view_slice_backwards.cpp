// SPDX-License-Identifier: BSL-1.0
// A slice that goes backwards to the end.
// FAIL: shape_mistake<.*range.*onto::op::slice<onto::range<5, .*, -1>.*onto::shape<9>
// FAIL: \[onto\.shape\] slice: a step above 0 leads to to_end, one below 0 to to_begin, 0 nowhere
#include <onto/ops/view.hpp>

#ifdef ONTO_TWIN
#define END to_begin
#else
#define END to_end
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 9>;
constexpr auto bad = slice<range<5, END, -1>>(a);
