// SPDX-License-Identifier: BSL-1.0
// Numbers of other rows than the operand has.
// FAIL: \[onto\.shape\] take_along_axis: the numbers have the extents of x, but along the axis
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 3>;
#ifdef ONTO_TWIN
constexpr auto numbers = placeholder<"numbers", int, 4, 2>;
#else
constexpr auto numbers = placeholder<"numbers", int, 5, 2>;
#endif
constexpr auto bad = take_along_axis<1>(x, numbers);
