// SPDX-License-Identifier: BSL-1.0
// A slice has a derivative where its elements, laid apart by the step, are no more than an extent can say.
// FAIL: \[onto\.gradient\] an operation between the loss and what it is derived by has no derivative
// ONLY: g++ clang++
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", half, 2000000000>;
#ifdef ONTO_TWIN
constexpr auto some = slice<range<0, to_end, 1000000000>>(x);
#else
constexpr auto some = slice<range<0, to_end, 1500000000>>(x);
#endif
int main() { return plan_of(gradient(sum(some), x)).kernels; }
