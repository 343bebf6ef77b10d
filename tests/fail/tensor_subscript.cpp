// SPDX-License-Identifier: BSL-1.0
// A subscript of a matrix: an element has one index for each axis.
// FAIL: an_element_has_one_index_for_each_axis
#include <onto/tensor/tensor.hpp>

onto::tensor<float, 2, 3> t;

#ifdef ONTO_TWIN
float first = t(0, 1);
#else
float first = t[0];
#endif
