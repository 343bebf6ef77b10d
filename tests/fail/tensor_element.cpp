// SPDX-License-Identifier: BSL-1.0
// A tensor holds float, double, int32, int64 or bool.
// FAIL: constraint
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
using element_type = int;
#else
using element_type = short;
#endif

onto::tensor<element_type, 2, 2> t;
