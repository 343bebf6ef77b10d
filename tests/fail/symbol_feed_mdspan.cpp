// SPDX-License-Identifier: BSL-1.0
// A view with strides may lie in any order.
// FAIL: array_may_not_be_row_major<
// FAIL: \[onto\.feed\] an array with strides need not lie row by row; feed row_major\(a\)
#include <onto/strided.hpp>

#include "strided_arrays.hpp"

using namespace onto;

constexpr auto x = placeholder<"x", float, dyn, dyn>;
float values[6] = {};
const strided_view<float> view{values, {2, 3}, {1, 2}};

#ifdef ONTO_TWIN
const auto fed = x = row_major(view);
#else
const auto fed = x = view;
#endif
