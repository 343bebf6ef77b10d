// SPDX-License-Identifier: BSL-1.0
// The axis of a row operation is a template argument.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler
#include <onto/onto.hpp>

using onto::softmax;

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto rows = softmax<0>(x);
#else
const auto rows = softmax(x, 0);
#endif
