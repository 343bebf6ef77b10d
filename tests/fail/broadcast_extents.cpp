// SPDX-License-Identifier: BSL-1.0
// Elementwise operands whose extents differ, and neither is 1.
// FAIL: shape_mistake<.*broadcast.*onto::op::add.*onto::shape<2, 3>.*onto::shape<4>
// FAIL: \[onto\.shape\] the operands' extents differ and neither is 1
#include <onto/ops/arithmetic.hpp>

#ifdef ONTO_TWIN
#define COLUMNS 3
#else
#define COLUMNS 4
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto b = placeholder<"b", float, COLUMNS>;
constexpr auto bad = (a + b) * a;
