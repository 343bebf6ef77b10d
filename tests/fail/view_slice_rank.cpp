// SPDX-License-Identifier: BSL-1.0
// More ranges than the operand has axes.
// FAIL: shape_mistake<.*rank.*onto::op::slice<.*onto::shape<9>
#include <onto/ops/view.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto a = placeholder<"a", float, 9, 1>;
#else
constexpr auto a = placeholder<"a", float, 9>;
#endif
constexpr auto bad = slice<range<0, 4>, range<>>(a);
