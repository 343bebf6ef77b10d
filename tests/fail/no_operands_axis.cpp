// SPDX-License-Identifier: BSL-1.0
// The sum over an axis of a number.
// FAIL: \[onto\.operands\] this word does not take these arguments
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
auto total(const tensor<double, 3>& x) { return evaluate(sum<0>(x)); }
#else
auto total(double x) { return sum<0>(x); }
#endif
