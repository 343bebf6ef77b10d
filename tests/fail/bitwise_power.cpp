// SPDX-License-Identifier: BSL-1.0
// ^ is no power.
// FAIL: \[onto\.element\] \^ is the exclusive or of integers or bools; a power is pow\(x, 2\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = pow(x, 2);
#else
const auto y = x ^ 2;
#endif
