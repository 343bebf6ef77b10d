// SPDX-License-Identifier: BSL-1.0
// Vectors in a vector lie in many pieces.
// FAIL: \[onto\.feed\] ranges in a range need not lie in one piece; copy their elements into a tensor
#include <onto/onto.hpp>

#include <vector>

using namespace onto;

constexpr auto x = placeholder<"x", float, dyn, dyn>;
#ifdef ONTO_TWIN
const tensor<float, dyn, dyn> data{{1, 2}, {3, 4}};
#else
const std::vector<std::vector<float>> data{{1, 2}, {3, 4}};
#endif

const auto fed = x = data;
