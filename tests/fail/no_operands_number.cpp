// SPDX-License-Identifier: BSL-1.0
// A word of one operand of a number alone.
// FAIL: \[onto\.operands\] this word does not take these arguments
// FAIL: numbers alone are computed in C\+\+
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
auto logistic(const tensor<double, 3>& x) { return evaluate(sigmoid(x)); }
#else
auto logistic(double x) { return sigmoid(x); }
#endif
