// SPDX-License-Identifier: BSL-1.0
// Nor are operands in a tuple.
// FAIL: \[onto\.operands\] operands have types of their own and make no list: concat<1>\(x, y\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto y = placeholder<"y", float, 2>;

#ifdef ONTO_TWIN
const auto joined = concat<0>(x, y);
#else
const auto joined = concat(std::tuple{x, y});
#endif
