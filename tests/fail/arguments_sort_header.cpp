// SPDX-License-Identifier: BSL-1.0
// Sorts have a header of their own.
// FAIL: \[onto\.include\] sort, argsort, top_k and unique are in #include <onto/sort\.hpp>; numbers stand in <>: sort<0>\(x\), top_k<5>\(x\), unique<16>\(x\)
#ifdef ONTO_TWIN
#include <onto/sort.hpp>
#else
#include <onto/onto.hpp>
#endif

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

const auto y = sort(x);
