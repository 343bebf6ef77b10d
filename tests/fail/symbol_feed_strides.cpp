// SPDX-License-Identifier: BSL-1.0
// An array of two axes has as many values as the placeholder wants, in an order of its own.
// FAIL: \[onto\.feed\] an array with strides need not lie row by row; .*tensor_ref<...>\(pointer, \{rows, columns\}\)
#include <onto/onto.hpp>

#include "strided_arrays.hpp"

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
const column_array<float> data{{1, 4, 2, 5, 3, 6}};

#ifdef ONTO_TWIN
const auto fed = x = data.values;
#else
const auto fed = x = data;
#endif
