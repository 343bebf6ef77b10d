// SPDX-License-Identifier: BSL-1.0
// A number is stacked as a tensor of the others' shape.
// FAIL: \[onto\.axis\] .* a number beside them is stack<1>\(x, ones_like\(x\)\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", double, dyn>;

#ifdef ONTO_TWIN
const auto homogeneous = stack<-1>(x, ones_like(x));
#else
const auto homogeneous = stack<-1>(x, 1.0);
#endif
