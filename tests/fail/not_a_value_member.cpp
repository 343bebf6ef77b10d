// SPDX-License-Identifier: BSL-1.0
// The words for expressions are functions, not members as in other libraries.
// FAIL: \[onto\.operands\] the words for expressions are functions
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto total = sum<0>(x * 2);
#else
const auto total = (x * 2).sum(0);
#endif
