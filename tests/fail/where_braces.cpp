// SPDX-License-Identifier: BSL-1.0
// Numbers in braces to choose from.
// FAIL: \[onto\.operands\] numbers in braces have no element type here; make a tensor of them
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;

#ifdef ONTO_TWIN
const auto e = where(x > 0, tensor<float, 2>{1, 2}, 0);
#else
const auto e = where(x > 0, {1, 2}, {3, 4});
#endif
