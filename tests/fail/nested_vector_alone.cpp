// SPDX-License-Identifier: BSL-1.0
// The sum of nested vectors, whose rows may differ in length.
// FAIL: \[onto\.operands\] beside an expression stands a tensor, or a vector, an array or a span of elements
#include <onto/onto.hpp>

#include <vector>

using namespace onto;

#ifdef ONTO_TWIN
const std::vector<float> v(3);
#else
const std::vector<std::vector<float>> v(3);
#endif

const auto e = sum(v);
