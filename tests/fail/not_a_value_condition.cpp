// SPDX-License-Identifier: BSL-1.0
// A condition on elements is a choice by element, not a branch.
// FAIL: \[onto\.run\] an expression has no value before it is run
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
auto magnitude() { return where(x > 0, x, -x); }
#else
auto magnitude() { return x > 0 ? x : -x; }
#endif
