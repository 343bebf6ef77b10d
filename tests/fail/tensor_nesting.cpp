// SPDX-License-Identifier: BSL-1.0
// Values are nested as deep as the tensor has axes.
// FAIL: deleted
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
onto::tensor<float, 2, 2> t{{1, 2}, {3, 4}};
#else
onto::tensor<float, 2> t{{1, 2}, {3, 4}};
#endif
