// SPDX-License-Identifier: BSL-1.0
// A value that is larger than the variable: a variable keeps its shape.
// FAIL: \[onto\.shape\] the value does not broadcast to the variable, which keeps its extents; assign one of that shape
#include <onto/ops/assign.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 2>;
#ifdef ONTO_TWIN
constexpr auto x = placeholder<"x", float, 2>;
#else
constexpr auto x = placeholder<"x", float, 2, 2>;
#endif
constexpr auto bad = assign(on<cpu<0>>(w), x);
