// SPDX-License-Identifier: BSL-1.0
// Two extents that are to be computed.
// FAIL: reshape_extents_wrong<.*-1.*-1.*2
// FAIL: \[onto\.shape\] reshape: an extent is 0, positive, or dyn
#include <onto/ops/view.hpp>

#ifdef ONTO_TWIN
#define ROWS 1
#else
#define ROWS dyn
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto bad = reshape<dyn, ROWS, 2>(a);
