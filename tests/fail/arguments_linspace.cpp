// SPDX-License-Identifier: BSL-1.0
// How many numbers a range of them has is in its type.
// FAIL: \[onto\.shape\] extents are known to the compiler: .*linspace<float, 5>\(0, 1\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 2>;

#ifdef ONTO_TWIN
const auto y = linspace<float, 5>(0, 1);
#else
const auto y = linspace(0, 1, 5);
#endif
