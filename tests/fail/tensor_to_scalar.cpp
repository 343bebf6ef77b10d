// SPDX-License-Identifier: BSL-1.0
// Only a tensor of rank 0 is a number.
// FAIL: (cannot convert|no viable conversion|no suitable conversion).*float
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
onto::tensor<float> t;
#else
onto::tensor<float, 1, 1> t;
#endif

float value = t;
