// SPDX-License-Identifier: BSL-1.0
// The axis along which tensors are joined is a template argument.
// FAIL: \[onto\.axis\] the axis of concat stands in <>, and in \(\) expressions or data: concat<1>\(x, y\)
#include <onto/onto.hpp>

using onto::concat;

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = concat<1>(x, x);
#else
const auto y = concat(x, x, 1);
#endif
