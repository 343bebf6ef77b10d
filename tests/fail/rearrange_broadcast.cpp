// SPDX-License-Identifier: BSL-1.0
// A tensor stretched where its extent is not 1.
// FAIL: \[onto\.shape\] the operands. extents differ
#include <onto/ops/rearrange.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3>;
#ifdef ONTO_TWIN
constexpr int rows = 2;
#else
constexpr int rows = 4;
#endif
constexpr auto bad = broadcast_to<rows, 3>(a);
