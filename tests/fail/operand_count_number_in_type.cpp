// SPDX-License-Identifier: BSL-1.0
// The square root of a number in the type is the number's, not a tensor's.
// FAIL: \[onto\.operands\] a number in the type is no operand alone
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", double, 3>;
#ifdef ONTO_TWIN
const auto y = sqrt(fill<double>(c<0.25>)) * x;
#else
const auto y = sqrt(c<0.25>) * x;
#endif
