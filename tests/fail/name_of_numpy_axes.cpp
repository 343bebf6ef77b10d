// SPDX-License-Identifier: BSL-1.0
// NumPy's names for changing axes, with its arguments.
// FAIL: \[onto\.operands\] swapaxes is written permute<1, 0>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
#ifdef ONTO_TWIN
const auto good = permute<1, 0>(x);
#else
const auto bad = swapaxes(x, 0, 1);
#endif
