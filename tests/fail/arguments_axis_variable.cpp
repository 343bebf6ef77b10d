// SPDX-License-Identifier: BSL-1.0
// An axis is a constant. C++ finds no overload for a variable in <>; the line of the first that compilers list says so.
// LINES: 50
// FAIL(g++): not usable in a constant expression
// FAIL(g++): \[onto\.axis\] an axis is a constant: constexpr int k = 1
// FAIL(clang++): \[onto\.axis\] an axis is a constant: constexpr int k = 1
// FAIL(nvcc): constant
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
constexpr int k = 1;
#else
int k = 1;
#endif

const auto rows = sum<k>(x);
