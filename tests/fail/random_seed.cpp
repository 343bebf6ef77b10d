// SPDX-License-Identifier: BSL-1.0
// Random numbers have a seed.
// FAIL: \[onto\.operands\] random numbers have a seed
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto good = random_normal<float, 3>(7);
#else
const auto bad = random_normal<float, 3>();
#endif
