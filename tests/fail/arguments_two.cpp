// SPDX-License-Identifier: BSL-1.0
// max is over axes; of two operands it is maximum.
// FAIL: \[onto\.axis\] max and min are over axes: max<1>\(x\); of two operands, element by element: maximum\(x, y\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = maximum(x, 0);
#else
const auto y = max(x, 0);
#endif
