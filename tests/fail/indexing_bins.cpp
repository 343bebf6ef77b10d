// SPDX-License-Identifier: BSL-1.0
// Bins go upwards.
// FAIL: \[onto\.number\] histogram: bins go from a number to one that is no less, both finite
#include <onto/ops/histogram.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, dyn>;
#ifdef ONTO_TWIN
constexpr auto bad = histogram<3>(x, 1_c, 2_c);
#else
constexpr auto bad = histogram<3>(x, 2_c, 1_c);
#endif
