// SPDX-License-Identifier: BSL-1.0
// A fraction is no value of a tensor of integers.
// FAIL: deleted
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
onto::tensor<float, 2> t{1, 2.5};
#else
onto::tensor<int, 2> t{1, 2.5};
#endif
