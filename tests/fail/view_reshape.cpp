// SPDX-License-Identifier: BSL-1.0
// A reshape to another number of elements.
// FAIL: shape_mistake<.*size.*onto::op::reshape<4, 2>.*onto::shape<2, 3>
// FAIL: \[onto\.shape\] reshape: the numbers of elements differ
#include <onto/ops/view.hpp>

#ifdef ONTO_TWIN
#define ROWS 3
#else
#define ROWS 4
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto bad = reshape<ROWS, 2>(a);
