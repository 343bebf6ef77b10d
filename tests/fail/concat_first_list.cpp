// SPDX-License-Identifier: BSL-1.0
// Numbers in braces come first.
// FAIL: \[onto\.operands\] numbers without an expression among them are a constant: constant\(\{0\.0, 1\.0\}\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 3>;

#ifdef ONTO_TWIN
const auto y = concat<0>(constant({{1.f, 2.f, 3.f}}), x);
#else
const auto y = concat<0>({1.f, 2.f, 3.f}, x);
#endif
