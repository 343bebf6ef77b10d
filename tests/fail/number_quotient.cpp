// SPDX-License-Identifier: BSL-1.0
// A quotient of two integers in types: 0 in C++, 0.5 in NumPy.
// FAIL: \[onto\.number\] a quotient of integers
#include <onto/ops/arithmetic.hpp>

#ifdef ONTO_TWIN
#define ONE 1.0_c
#else
#define ONE 1_c
#endif

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto bad = x * (ONE / 2_c);
