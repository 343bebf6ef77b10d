// SPDX-License-Identifier: BSL-1.0
// What `gradients` gives is a tuple, before a number too.
// FAIL: \[onto\.operands\] several expressions are no operand; take them apart
#include <onto/onto.hpp>

using namespace onto::literals;

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto both = gradients(sum(x * x), x, x);
#ifdef ONTO_TWIN
constexpr auto e = std::get<0>(both) * 0.5_c;
#else
constexpr auto e = both * 0.5f;
#endif
