// SPDX-License-Identifier: BSL-1.0
// Rows in braces are none: each is a stack.
// FAIL: \[onto\.operands\] operands have types of their own and make no list: concat<1>\(x, y\), stack\(x, y\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto dt = placeholder<"dt", double>;

#ifdef ONTO_TWIN
constexpr auto f = stack(stack(1_c, dt), stack(0_c, 1_c * dt));
#else
constexpr auto f = stack({1.0, dt}, {0.0, 1.0});
#endif
