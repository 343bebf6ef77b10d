// SPDX-License-Identifier: BSL-1.0
// An output has the element type of the result.
// FAIL: \[onto\.run\] the output has another element type or shape than the result
#include <onto/onto.hpp>

using namespace onto;

const tensor<float, 2> t{1, 2};

#ifdef ONTO_TWIN
void twice(tensor<float, 2>& out) { evaluate_to(out, 2 * t); }
#else
void twice(tensor<double, 2>& out) { evaluate_to(out, 2 * t); }
#endif
