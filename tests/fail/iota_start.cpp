// SPDX-License-Identifier: BSL-1.0
// The first number of iota as an argument.
// FAIL: \[onto\.shape\] extents are known to the compiler: .*iota<float, 5>\(\)
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto i = iota<int, 3>() + 5;
#else
const auto i = iota<int, 3>(5);
#endif
