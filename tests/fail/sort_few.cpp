// SPDX-License-Identifier: BSL-1.0
// More of the greatest elements than there are.
// FAIL: \[onto\.shape\] the axis has fewer elements than are asked for, or than go into it; ask for fewer
#include <onto/ops/sort.hpp>

#ifdef ONTO_TWIN
#define COUNT 5
#else
#define COUNT 6
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 4, 5>;
constexpr auto bad = top_k<COUNT>(a);
