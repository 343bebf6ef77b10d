// SPDX-License-Identifier: BSL-1.0
// Parts of what stands for a mistake are not complained of again.
// FAIL: \[onto\.shape\] the operands.* extents differ and neither is 1
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto y = onto::placeholder<"y", float, 3, 2>;

#ifdef ONTO_TWIN
const auto parts = split<3, 1>(x + transpose(y));
const auto first = std::get<0>(parts);
#else
const auto parts = split<3, 1>(x + y);
const auto first = std::get<0>(parts);
#endif
