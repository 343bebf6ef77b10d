// SPDX-License-Identifier: BSL-1.0
// Batches are of data, not of what it is fed to.
// FAIL: \[onto\.batches\] batches are of data: a tensor, a vector, an array or a span
#include <onto/batches.hpp>

using namespace onto;

constexpr auto v = placeholder<"v", float, 3>;
const tensor<float, 3> t{1, 2, 3};

#ifdef ONTO_TWIN
batches b(t, 2);
#else
batches b(v, 2);
#endif
