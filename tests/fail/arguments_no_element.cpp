// SPDX-License-Identifier: BSL-1.0
// What is made of nothing has an element type, before its extents.
// FAIL: \[onto\.shape\] extents are known to the compiler: zeros<float, 2, 3>\(\)
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto y = ones<float, 3, 4>();
#else
const auto y = ones<3, 4>();
#endif
