// SPDX-License-Identifier: BSL-1.0
// Extents that are fed.
// FAIL: \[onto\.shape\] extents are known to the compiler: .*iota_like\(x\)
#include <onto/onto.hpp>

using namespace onto;

const auto n = placeholder<"n", int>;

#ifdef ONTO_TWIN
const auto e = iota<int, 3>() + n;
#else
const auto e = iota<int>(n);
#endif
