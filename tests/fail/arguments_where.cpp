// SPDX-License-Identifier: BSL-1.0
// What is chosen is a number, data or an expression.
// FAIL: \[onto\.operands\] where chooses between two, element by element: where\(condition, a, b\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto v = placeholder<"v", float, 3>;

#ifdef ONTO_TWIN
const auto y = where(v > 0, v, 0);
#else
const auto y = where(v > 0, v, nullptr);
#endif
