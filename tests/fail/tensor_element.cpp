// SPDX-License-Identifier: BSL-1.0
// A tensor holds float, double, half, bfloat16, integers of known width or bool; char is none of them.
// FAIL: constraint
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
using element_type = signed char;
#else
using element_type = char;
#endif

onto::tensor<element_type, 2, 2> t;
