// SPDX-License-Identifier: BSL-1.0
// Nor are operands.
// FAIL: \[onto\.operands\] operands have types of their own and make no list: concat<1>\(x, y\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
constexpr auto y = placeholder<"y", float, 2, 3>;

#ifdef ONTO_TWIN
const auto z = concat<1>(x, y + y);
#else
const auto z = concat<1>({x, y + y});
#endif
