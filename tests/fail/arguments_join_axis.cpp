// SPDX-License-Identifier: BSL-1.0
// An axis is no argument, and operands are no list.
// FAIL: \[onto\.operands\] operands have types of their own and make no list: concat<1>\(x, y\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

using namespace onto;

#ifdef ONTO_TWIN
const auto y = concat<0>(x, x);
#else
const auto y = concat({x, x}, 0);
#endif
