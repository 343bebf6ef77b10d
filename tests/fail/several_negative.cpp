// SPDX-License-Identifier: BSL-1.0
// Several results are no operand, beside a number and alone neither.
// FAIL: \[onto\.operands\] top_k and unique make several, and one of them is an operand
#include <onto/sort.hpp>

constexpr auto x = onto::placeholder<"x", float, 8>;

#ifdef ONTO_TWIN
const auto e = -top_k<2>(x).values;
#else
const auto e = -top_k<2>(x);
#endif
