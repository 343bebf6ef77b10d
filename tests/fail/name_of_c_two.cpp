// SPDX-License-Identifier: BSL-1.0
// Names of <cmath> of two operands.
// FAIL: \[onto\.operands\] remainder is written x % y, as NumPy's
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
#ifdef ONTO_TWIN
const auto good = x % 3;
#else
const auto bad = remainder(x, 3);
#endif
