// SPDX-License-Identifier: BSL-1.0
// NumPy's ddof and ord are no arguments of var and norm.
// FAIL: \[onto\.axis\] an axis stands in <>: var<1>\(x\), norm<1>\(x\); the variance of a sample
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
#ifdef ONTO_TWIN
const auto good = var<0>(x) * (3 / 2.0);
const auto better = sum(abs(x));
#else
const auto bad = var<0>(x, 1);
#endif
