// SPDX-License-Identifier: BSL-1.0
// A number of run time is in no constant expression; one in the type is.
// FAIL: \[onto\.number\] a number in a constexpr expression: 2\.0_c
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
constexpr auto y = onto::c<2.0f> * x;
#else
constexpr auto y = 2.0f * x;
#endif
