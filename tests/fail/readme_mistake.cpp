// SPDX-License-Identifier: BSL-1.0
// The mistake that README shows: two matrices that cannot be multiplied.
// FAIL: shape_mistake<.*inner.*onto::shape<2, 3>.*onto::shape<4, 5>
// FAIL: \[onto\.shape\] matmul: columns of the left and rows of the right differ
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto left = placeholder<"left", float, 2, 3>;
constexpr auto right = placeholder<"right", float, 3, 5>;
constexpr auto product = matmul(left, right);
#else
// [mistake]
constexpr auto left = placeholder<"left", float, 2, 3>;
constexpr auto right = placeholder<"right", float, 4, 5>;
constexpr auto product = matmul(left, right);
// [mistake]
#endif
