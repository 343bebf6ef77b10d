// SPDX-License-Identifier: BSL-1.0
// An array of C beside an expression.
// FAIL: \[onto\.operands\] beside an expression stands a tensor, or .*of an array of C constant\(k\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, dyn, 4>;
inline float k[4] = {1, 2, 3, 4};

#ifdef ONTO_TWIN
const auto good = x * constant(k);
#else
const auto bad = x * k;
#endif
