// SPDX-License-Identifier: BSL-1.0
// The axis along which operands are stacked is a template argument.
// FAIL: \[onto\.axis\] the axis of stack stands in <>, and in \(\) expressions of one shape: stack<1>\(x, y\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto y = placeholder<"y", float, 2>;

#ifdef ONTO_TWIN
const auto z = stack<1>(x, y);
#else
const auto z = stack(x, y, 1);
#endif
