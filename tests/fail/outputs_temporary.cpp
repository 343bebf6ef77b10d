// SPDX-License-Identifier: BSL-1.0
// A result in a temporary would be lost.
// FAIL: \[onto\.run\] the output is a temporary, and the result would be lost
#include <onto/onto.hpp>

using namespace onto;

const tensor<float, 2> t{1, 2};

#ifdef ONTO_TWIN
void twice(tensor<float, 2> out) { evaluate_to(out, 2 * t); }
#else
void twice() { evaluate_to(tensor<float, 2>(), 2 * t); }
#endif
