// SPDX-License-Identifier: BSL-1.0
// Random numbers follow from a seed.
// FAIL: \[onto\.operands\] random numbers have a seed, an integer or an expression of one
// FAIL: random_normal<float, 2, 3>\(seed\)
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto y = random_normal<float, 3>(1);
#else
const auto y = random_normal<float, 3>();
#endif
