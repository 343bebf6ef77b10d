// SPDX-License-Identifier: BSL-1.0
// A permutation that names one axis twice.
// FAIL: shape_mistake<.*axis.*onto::op::permute<0, 1, 1>.*onto::shape<2, 3, 4>
#include <onto/ops/view.hpp>

#ifdef ONTO_TWIN
#define LAST 2
#else
#define LAST 1
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3, 4>;
constexpr auto bad = permute<0, 1, LAST>(a);
