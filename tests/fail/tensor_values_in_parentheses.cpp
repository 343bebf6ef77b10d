// SPDX-License-Identifier: BSL-1.0
// Fractions in braces and parentheses are no shape.
// FAIL: deleted
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
onto::tensor<double, 2> t{1.5, 2.5};
onto::tensor<double, 2, 2> u({{1.5, 2.5}, {3.5, 4.5}});
onto::tensor<double, onto::dyn> v({3});
#else
onto::tensor<double, 2> t({1.5, 2.5});
#endif
