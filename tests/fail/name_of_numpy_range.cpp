// SPDX-License-Identifier: BSL-1.0
// NumPy's range of numbers is iota, whose extent is in its type.
// FAIL: \[onto\.operands\] arange is written iota<int, 5>\(\)
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
const auto numbers = 2 + 3 * onto::iota<int, 5>();
#else
const auto numbers = onto::arange(2, 17, 3);
#endif
