// SPDX-License-Identifier: BSL-1.0
// A shape has one extent per axis.
// FAIL: \[onto\.tensor\] t\(\{\.\.\.\}\) is a shape and takes one extent per axis, as of tensor<float, dyn, dyn>; for values write t\{\.\.\.\}
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
onto::tensor<float, onto::dyn, onto::dyn> t({2, 3});
#else
onto::tensor<float, onto::dyn, onto::dyn> t({2, 3, 4});
#endif
