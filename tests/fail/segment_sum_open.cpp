// SPDX-License-Identifier: BSL-1.0
// The number of segments is an extent of the result, which only the compiler gives.
// FAIL: \[onto\.shape\] the number of segments is known to the compiler: segment_sum<10>\(x, i\)
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

const auto x = placeholder<"x", float, dyn>;
const auto i = placeholder<"i", int, dyn>;

#ifdef ONTO_TWIN
const auto e = segment_sum<4>(x, i);
#else
const auto e = segment_sum<dyn>(x, i);
#endif
