// SPDX-License-Identifier: BSL-1.0
// An element of a tensor has one index for each axis.
// FAIL: deleted
// FAIL: an_element_has_one_index_for_each_axis
#include <onto/tensor/tensor.hpp>

float last(const onto::tensor<float, 2, 2>& t) {
#ifdef ONTO_TWIN
  return t(1, 1);
#else
  return t(3);
#endif
}
