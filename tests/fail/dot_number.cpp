// SPDX-License-Identifier: BSL-1.0
// A product by a number.
// FAIL: \[onto\.operands\] dot and outer are of vectors and matrices; by a number it is 2 \* x
#include <onto/onto.hpp>

using namespace onto;

constexpr auto v = placeholder<"v", float, dyn>;

#ifdef ONTO_TWIN
const auto e = 3 * v;
#else
const auto e = dot(3, v);
#endif
