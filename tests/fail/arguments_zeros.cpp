// SPDX-License-Identifier: BSL-1.0
// The extents of what is made of nothing are in its type.
// FAIL: \[onto\.shape\] extents are known to the compiler: zeros<float, 2, 3>\(\)
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto z = zeros<float, 2, 3>();
#else
const auto z = zeros<float>({2, 3});
#endif
