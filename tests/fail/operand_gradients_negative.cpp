// SPDX-License-Identifier: BSL-1.0
// A tuple of gradients has no negative.
// FAIL: \[onto\.operands\] several expressions are no operand; take them apart
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto both = gradients(sum(x * x), x, x);
#ifdef ONTO_TWIN
constexpr auto e = -std::get<0>(both);
#else
constexpr auto e = -both;
#endif
