// SPDX-License-Identifier: BSL-1.0
// Of two operands too.
// FAIL: \[onto\.run\] an expression has no value before it is run
#include <onto/onto.hpp>

#include <cmath>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
#ifdef ONTO_TWIN
const auto y = pow(x + 1, 2);
#else
const auto y = std::pow(x + 1, 2);
#endif
