// SPDX-License-Identifier: BSL-1.0
// Sorts have a header of their own.
// FAIL: \[onto\.include\] with #include <onto/sort\.hpp> it is written sort<0>\(x\)
#ifdef ONTO_TWIN
#include <onto/sort.hpp>
#else
#include <onto/onto.hpp>
#endif

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

const auto y = sort(x);
