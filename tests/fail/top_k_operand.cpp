// SPDX-License-Identifier: BSL-1.0
// The values and the numbers of the greatest elements are two results, and an operand is one.
// FAIL: \[onto\.operands\] top_k and unique make several, and one of them is an operand: top_k<3>\(x\)\.values
#include <onto/onto.hpp>
#include <onto/sort.hpp>

using namespace onto;

const auto x = placeholder<"x", float, dyn>;

#ifdef ONTO_TWIN
const auto e = sum(top_k<3>(x).values);
#else
const auto e = sum(top_k<3>(x));
#endif
