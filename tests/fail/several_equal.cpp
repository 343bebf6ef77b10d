// SPDX-License-Identifier: BSL-1.0
// Several results are no operand, beside a number and alone neither.
// FAIL: \[onto\.operands\] top_k and unique make several, and one of them is an operand
#include <onto/sort.hpp>

constexpr auto i = onto::placeholder<"i", int, 8>;

#ifdef ONTO_TWIN
const auto e = unique<5>(i).values == 1;
#else
const auto e = unique<5>(i) == 1;
#endif
