// SPDX-License-Identifier: BSL-1.0
// Values in one pair of braces are a tensor of rank 1.
// FAIL: deleted
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
onto::tensor<float, 4> t{1, 2, 3, 4};
#else
onto::tensor<float, 2, 2> t{1, 2, 3, 4};
#endif
