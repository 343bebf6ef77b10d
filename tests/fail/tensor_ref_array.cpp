// SPDX-License-Identifier: BSL-1.0
// A C array has the extents of the type that refers to it.
// FAIL: \[onto\.tensor\] the array has other extents than the tensor type; change one, or use dyn
#include <onto/tensor/tensor_ref.hpp>

float values[2][3] = {{1, 2, 3}, {4, 5, 6}};

#ifdef ONTO_TWIN
onto::tensor_ref<float, 2, 3> t = values;
#else
onto::tensor_ref<float, 3, 3> t = values;
#endif
