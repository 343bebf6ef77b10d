// SPDX-License-Identifier: BSL-1.0
// Numbers evenly apart without their ends.
// FAIL: \[onto\.shape\] extents are known to the compiler
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
const auto e = onto::linspace<float, 5>(0, 1);
#else
const auto e = onto::linspace<float, 5>();
#endif
