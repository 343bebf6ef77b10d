// SPDX-License-Identifier: BSL-1.0
// The number of numbers that are counted is an extent of the result, which only the compiler gives.
// FAIL: \[onto\.shape\] the number of segments is known to the compiler: segment_sum<10>\(x, i\)
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

const auto i = placeholder<"i", int, dyn>;

#ifdef ONTO_TWIN
const auto e = bincount<4>(i);
#else
const auto e = bincount<dyn>(i);
#endif
