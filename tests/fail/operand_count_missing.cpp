// SPDX-License-Identifier: BSL-1.0
// A function of two operands is given both.
// FAIL: \[onto\.operands\] this word takes two operands: pow\(x, 2\), maximum\(x, 0\), matmul\(a, b\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = maximum(x, 0);
#else
const auto y = maximum(x);
#endif
