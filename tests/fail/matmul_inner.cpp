// SPDX-License-Identifier: BSL-1.0
// A matrix product whose inner extents differ.
// FAIL: shape_mistake<.*inner.*onto::op::matmul.*onto::shape<2, 3>.*onto::shape<4, 5>
// FAIL: \[onto\.shape\] matmul: columns of the left and rows of the right differ
#include <onto/ops/matmul.hpp>

#ifdef ONTO_TWIN
#define ROWS 3
#else
#define ROWS 4
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto b = placeholder<"b", float, ROWS, 5>;
constexpr auto bad = matmul(a, b);
