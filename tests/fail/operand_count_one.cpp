// SPDX-License-Identifier: BSL-1.0
// A function of one operand is given one.
// FAIL: \[onto\.operands\] this word takes one operand, element by element: exp\(x\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = exp(x);
#else
const auto y = exp(x, 2);
#endif
