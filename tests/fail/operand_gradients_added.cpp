// SPDX-License-Identifier: BSL-1.0
// Tuples of gradients are not added.
// FAIL: \[onto\.operands\] several expressions are no operand; take them apart
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto both = gradients(sum(x * x), x, x);
#ifdef ONTO_TWIN
constexpr auto e = std::get<0>(both) + std::get<1>(both);
#else
constexpr auto e = both + both;
#endif
