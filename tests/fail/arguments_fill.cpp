// SPDX-License-Identifier: BSL-1.0
// Extents of one value everywhere stand in its type.
// FAIL: \[onto\.shape\] extents are known to the compiler: zeros<float, 2, 3>\(\)
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto y = fill<float, 2, 3>(7.f);
#else
const auto y = fill(7.f);
#endif
