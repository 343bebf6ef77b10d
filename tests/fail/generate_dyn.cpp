// SPDX-License-Identifier: BSL-1.0
// A tensor made of nothing, of an extent nobody knows.
// FAIL: extents_not_known<.*onto::op::zeros<float, 2, -1>.*onto::shape<2, -1>
// FAIL: \[onto\.shape\] a tensor made of nothing needs its extents in the type
#include <onto/ops/generate.hpp>

#ifdef ONTO_TWIN
#define EXTENT 3
#else
#define EXTENT dyn
#endif

using namespace onto;

constexpr auto bad = zeros<float, 2, EXTENT>();
