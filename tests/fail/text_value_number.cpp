// SPDX-License-Identifier: BSL-1.0
// A number is no text.
// FAIL: deleted
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
#define VALUE "2"
#else
#define VALUE 2
#endif

const onto::tensor<onto::text, 2> t{VALUE, VALUE};
