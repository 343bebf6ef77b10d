// SPDX-License-Identifier: BSL-1.0
// Numbers in braces beside an operand.
// FAIL: \[onto\.operands\] numbers in braces have no element type here; make a tensor of them
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;

#ifdef ONTO_TWIN
const auto e = maximum(x, tensor<float, 3>{1, 2, 3});
#else
const auto e = maximum(x, {1, 2, 3});
#endif
