// SPDX-License-Identifier: BSL-1.0
// Operands side by side whose other extents differ.
// FAIL: shape_mistake<.*concat.*onto::op::concat<0>.*onto::shape<2, 3>.*onto::shape<2, 4>
// FAIL: \[onto\.shape\] concat, stack: the operands differ in rank or in an extent other than the joined axis
#include <onto/ops/concat.hpp>

#ifdef ONTO_TWIN
#define AXIS 1
#else
#define AXIS 0
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto b = placeholder<"b", float, 2, 4>;
constexpr auto bad = concat<AXIS>(a, b);
