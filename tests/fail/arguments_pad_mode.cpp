// SPDX-License-Identifier: BSL-1.0
// A padding has a value, and no mode.
// FAIL: \[onto\.operands\] pad puts a value around its operand
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

using namespace onto;

#ifdef ONTO_TWIN
const auto y = pad<padding<1>>(x, 0);
#else
const auto y = pad<padding<1>>(x, "edge");
#endif
