// SPDX-License-Identifier: BSL-1.0
// A list of two types has none.
// FAIL: \[onto\.operands\] a constant is a number, a list in braces of one type, or a tensor
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto c1 = constant({1.0, 2.5});
#else
const auto c1 = constant({1, 2.5});
#endif
