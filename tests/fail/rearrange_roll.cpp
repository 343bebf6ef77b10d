// SPDX-License-Identifier: BSL-1.0
// Along an axis whose extent is not known, a shift by more than 1.
// FAIL: \[onto\.shape\] roll: by more than 1
#include <onto/ops/rearrange.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, dyn>;
#ifdef ONTO_TWIN
constexpr int shift = -1;
#else
constexpr int shift = 2;
#endif
constexpr auto bad = roll<shift, 0>(a);
