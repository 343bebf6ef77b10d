// SPDX-License-Identifier: BSL-1.0
// Variables hold numbers.
// FAIL: \[onto\.text\] variables hold numbers; feed texts, or keep them in the program
#include <onto/expr/symbol.hpp>

#ifdef ONTO_TWIN
#define ELEMENT float
#else
#define ELEMENT onto::text
#endif

constexpr auto w = onto::variable<"w", ELEMENT, 2>;
