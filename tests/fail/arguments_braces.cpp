// SPDX-License-Identifier: BSL-1.0
// Numbers in braces are no operand.
// FAIL: \[onto\.operands\] numbers in braces have no element type here; make a tensor of them
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 2>;

#ifdef ONTO_TWIN
const auto y = matmul(x, tensor<float, 2>{1, 2});
#else
const auto y = matmul(x, {1, 2});
#endif
