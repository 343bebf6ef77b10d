// SPDX-License-Identifier: BSL-1.0
// Views of what stands for a mistake are not complained of again.
// FAIL: \[onto\.shape\] the operands.* extents differ and neither is 1
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto y = onto::placeholder<"y", float, 3, 2>;

#ifdef ONTO_TWIN
const auto z = tile<2, 1>(roll<1, 1>(flip<1>(pad<onto::padding<1>>(x + transpose(y)))));
#else
const auto z = tile<2, 1>(roll<1, 1>(flip<1>(pad<onto::padding<1>>(x + y))));
#endif
