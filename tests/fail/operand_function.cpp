// SPDX-License-Identifier: BSL-1.0
// A function whose parentheses were forgotten.
// FAIL: \[onto\.operands\] a function or lambda is no operand; call it
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

auto doubled() { return x * 2; }

#ifdef ONTO_TWIN
auto sum_of_both() { return x + doubled(); }
#else
auto sum_of_both() { return x + doubled; }
#endif
