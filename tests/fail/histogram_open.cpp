// SPDX-License-Identifier: BSL-1.0
// The number of bins is an extent of the result, which only the compiler gives.
// FAIL: \[onto\.shape\] histogram: the number of bins is known to the compiler
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

const auto x = placeholder<"x", float, dyn>;

#ifdef ONTO_TWIN
const auto e = histogram<4>(x, 0, 1);
#else
const auto e = histogram<dyn>(x, 0, 1);
#endif
