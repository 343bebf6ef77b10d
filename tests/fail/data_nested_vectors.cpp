// SPDX-License-Identifier: BSL-1.0
// Nested vectors are no operand beside an expression.
// FAIL: \[onto\.operands\] beside an expression stands a tensor, or a vector, an array or a span of elements
#include <onto/onto.hpp>

#include <vector>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 2>;
#ifdef ONTO_TWIN
const tensor<float, 2, 2> data{{1, 2}, {3, 4}};
#else
const std::vector<std::vector<float>> data{{1, 2}, {3, 4}};
#endif

const auto y = x + data;
