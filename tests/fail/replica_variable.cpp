// SPDX-License-Identifier: BSL-1.0
// A variable has replicas, and nothing else.
// FAIL: \[onto\.optimizer\] replica\(place, w\) is of a variable
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
#ifdef ONTO_TWIN
constexpr auto own = replica(gpu<1>{}, w);
#else
constexpr auto own = replica(gpu<1>{}, w + 1_c);
#endif
