// SPDX-License-Identifier: BSL-1.0
// A function of two operands is given two.
// FAIL: \[onto\.operands\] this word takes two operands: pow\(x, 2\), maximum\(x, 0\), matmul\(a, b\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 3, 3>;

#ifdef ONTO_TWIN
const auto y = matmul(x, matmul(x, x));
#else
const auto y = matmul(x, x, x);
#endif
