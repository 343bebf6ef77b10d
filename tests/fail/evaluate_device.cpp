// SPDX-License-Identifier: BSL-1.0
// evaluate is on the CPU.
// FAIL: \[onto\.run\] evaluate runs on cpu<0>, and the program asks for another device
#include <onto/onto.hpp>

using namespace onto;

const tensor<float, 2> t{1, 2};

#ifdef ONTO_TWIN
const auto y = evaluate(on<cpu<0>>(2 * t));
#else
const auto y = evaluate(on<gpu<0>>(2 * t));
#endif
