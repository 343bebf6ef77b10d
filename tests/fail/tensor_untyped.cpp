// SPDX-License-Identifier: BSL-1.0
// Extents without an element type.
// FAIL: \[onto\.tensor\] extents have no element type; write tensor<float, dyn, dyn> t\(\{2, 3\}\)
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
#define TENSOR tensor<float, dyn, dyn>
#else
#define TENSOR tensor
#endif

using namespace onto;

TENSOR t({2, 3});
