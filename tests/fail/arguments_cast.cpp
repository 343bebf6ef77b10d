// SPDX-License-Identifier: BSL-1.0
// The element type that a tensor is converted to is a template argument.
// FAIL: \[onto\.element\] the element type is known to the compiler: cast<double>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 2>;

#ifdef ONTO_TWIN
const auto y = cast<double>(x);
#else
const auto y = cast(x, double{});
#endif
