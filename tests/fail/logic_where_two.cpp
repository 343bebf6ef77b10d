// SPDX-License-Identifier: BSL-1.0
// What is chosen where the condition is false is said too.
// FAIL: \[onto\.operands\] where chooses between two, element by element: where\(condition, a, b\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto y = placeholder<"y", float, 2>;
const tensor<float, 2> X{1, 2};

#ifdef ONTO_TWIN
const auto positive = where(x > 0, x, 0);
#else
const auto positive = where(x > 0, x);
#endif
