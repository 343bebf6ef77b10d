// SPDX-License-Identifier: BSL-1.0
// Bits are of integers and bools.
// FAIL: \[onto\.element\] the operation has no kernel for this element type
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = x == x & x == x;
#else
const auto y = x & x;
#endif
