// SPDX-License-Identifier: BSL-1.0
// A number is no tensor with axes.
// FAIL(g++): a_number_fills_in_a_loop
// FAIL(nvcc): a_number_fills_in_a_loop
// FAIL(clang++): \[onto\.tensor\] t = tensor<float, 2, 3>\(u\) compares extents; for \(float& v : t\) v = 0
#include <onto/tensor/tensor.hpp>

void clear(onto::tensor<float, 2, 3>& t) {
#ifdef ONTO_TWIN
  for (float& value : t) value = 0;
#else
  t = 0;
#endif
}
