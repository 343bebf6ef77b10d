// SPDX-License-Identifier: BSL-1.0
// More paddings than axes.
// FAIL: \[onto\.shape\] an operand has too few dimensions
#include <onto/onto.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3>;
#ifdef ONTO_TWIN
constexpr auto bad = pad<padding<1>, padding<2>>(a);
#else
constexpr auto bad = pad<padding<1>, padding<2>, padding<3>>(a);
#endif
