// SPDX-License-Identifier: BSL-1.0
// A truth value of run time is in no constant expression; an expression of it is.
// FAIL: \[onto\.number\] a bool in a constexpr expression: zeros<bool>\(\)
#include <onto/onto.hpp>

constexpr auto mask = onto::placeholder<"mask", bool, 2, 3>;
constexpr auto around = onto::pad<onto::padding<1>>(mask);

#ifdef ONTO_TWIN
constexpr auto y = where(mask, mask, onto::zeros<bool>());
#else
constexpr auto y = where(mask, mask, false);
#endif
