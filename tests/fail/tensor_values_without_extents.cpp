// SPDX-License-Identifier: BSL-1.0
// A tensor without extents is one value.
// FAIL: deleted
// FAIL(g++): \[onto\.tensor\] without extents it is one value
// FAIL(clang++): \[onto\.tensor\] without extents it is one value
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
onto::tensor<float, 2> t{1, 2};
#else
onto::tensor<float> t{1, 2};
#endif
