// SPDX-License-Identifier: BSL-1.0
// A seed is an integer, not any number.
// FAIL: a seed is an integer, or an expression of one
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
#define SEED 15
#else
#define SEED 1.5
#endif

const auto y = onto::random_uniform<float, 3>(SEED);
