// SPDX-License-Identifier: BSL-1.0
// Whether to shuffle is said by a seed: false would be seed 0, and shuffle.
// FAIL: \[onto\.batches\] \.shuffle is a seed, and false would be seed 0; leave it out
#include <onto/batches.hpp>

using namespace onto;

const tensor<float, 3> t{1, 2, 3};

#ifdef ONTO_TWIN
batches b(t, 2, {.shuffle = 7});
#else
batches b(t, 2, {.shuffle = false});
#endif
