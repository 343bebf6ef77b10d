// SPDX-License-Identifier: BSL-1.0
// An element of a view has one index for each axis.
// FAIL: deleted
// FAIL: an_element_has_one_index_for_each_axis
#include <onto/tensor/tensor_ref.hpp>

float last(const onto::tensor_ref<float, 2, 2>& t) {
#ifdef ONTO_TWIN
  return t(1, 1);
#else
  return t(1, 1, 0);
#endif
}
