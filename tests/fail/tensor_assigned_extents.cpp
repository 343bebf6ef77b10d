// SPDX-License-Identifier: BSL-1.0
// Other extents are assigned after a conversion.
// FAIL(g++): other_extents_are_converted_in_parentheses
// FAIL(nvcc): other_extents_are_converted_in_parentheses
// FAIL(clang++): \[onto\.tensor\] t = tensor<float, 2, 3>\(u\) compares extents; for \(float& v : t\) v = 0
#include <onto/tensor/tensor.hpp>

void take(onto::tensor<float, 2, 3>& t, const onto::tensor<float, onto::dyn, onto::dyn>& u) {
#ifdef ONTO_TWIN
  t = onto::tensor<float, 2, 3>(u);
#else
  t = u;
#endif
}
