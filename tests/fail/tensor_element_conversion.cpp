// SPDX-License-Identifier: BSL-1.0
// Nothing converts between element types.
// FAIL: deleted
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
onto::tensor<float, 2> from;
#else
onto::tensor<double, 2> from;
#endif

onto::tensor<float, onto::dyn> to = from;
