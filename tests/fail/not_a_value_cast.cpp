// SPDX-License-Identifier: BSL-1.0
// The words for expressions are functions, those with a type in angle brackets too.
// FAIL: \[onto\.operands\] the words for expressions are functions
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto whole = onto::cast<int>(x);
#else
const auto whole = x.cast<int>();
#endif
