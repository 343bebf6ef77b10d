// SPDX-License-Identifier: BSL-1.0
// A percentile's number for a quantile's.
// FAIL: \[onto\.number\] quantile: a part of the elements is from 0 to 1
#include <onto/ops/quantile.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 4, 5>;
#ifdef ONTO_TWIN
constexpr auto bad = quantile<0>(a, 0.9_c);
#else
constexpr auto bad = quantile<0>(a, 90_c);
#endif
