// SPDX-License-Identifier: BSL-1.0
// There is an output for each fetch.
// FAIL: \[onto\.run\] there is one output for each fetch; give several as std::tie\(a, b\)
#include <onto/onto.hpp>

using namespace onto;

const tensor<float, 2> t{1, 2};

#ifdef ONTO_TWIN
void both(tensor<float, 2>& a, tensor<float, 2>& b) { evaluate_to(std::tie(a, b), fetches(2 * t, 3 * t)); }
#else
void both(tensor<float, 2>& a) { evaluate_to(a, fetches(2 * t, 3 * t)); }
#endif
