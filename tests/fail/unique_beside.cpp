// SPDX-License-Identifier: BSL-1.0
// The same of distinct values beside a number.
// FAIL: \[onto\.operands\] top_k and unique make several, and one of them is an operand: .*unique<10>\(x\)\.values
#include <onto/onto.hpp>
#include <onto/sort.hpp>

using namespace onto;

const auto x = placeholder<"x", float, dyn>;

#ifdef ONTO_TWIN
const auto e = unique<3>(x).values + 1;
#else
const auto e = unique<3>(x) + 1;
#endif
