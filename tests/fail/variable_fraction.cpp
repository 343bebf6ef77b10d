// SPDX-License-Identifier: BSL-1.0
// A fraction as the first value of integers.
// FAIL: \[onto\.element\] a fraction is no integer; round the first value, or choose float
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
#define TYPE double
#else
#define TYPE int
#endif

using namespace onto;

const auto v = variable<"v", TYPE, 2>(2.7);
