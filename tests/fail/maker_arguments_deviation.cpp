// SPDX-License-Identifier: BSL-1.0
// Random numbers have one distribution, and a seed.
// FAIL: \[onto\.operands\] the one argument is the seed
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
const auto x = 5.0f + 2.0f * onto::random_normal<float, 3>(42);
#else
const auto x = onto::random_normal<float, 3>(5, 2);
#endif
