// SPDX-License-Identifier: BSL-1.0
// A number alone is cast by C++.
// FAIL: \[onto\.operands\] cast is of expressions and data; a number alone is C\+\+.s: static_cast<int>\(2\.7\)
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
const auto y = static_cast<int>(2.7);
#else
const auto y = onto::cast<int>(2.7);
#endif
