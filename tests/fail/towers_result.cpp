// SPDX-License-Identifier: BSL-1.0
// A tower is an expression; a number is none. It is told once, not once a place.
// FAIL: tower_is_no_expression<.*float
// FAIL: \[onto\.towers\] what the function returns is no expression
#include <onto/ops/towers.hpp>

#ifdef ONTO_TWIN
#define RESULT 2.0f * a
#else
#define RESULT 2.0f
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
const auto bad = mean(towers(boost::hana::tuple_t<gpu<0>, gpu<1>>, [](auto) { return RESULT; }));
