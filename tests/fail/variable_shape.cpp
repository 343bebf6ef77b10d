// SPDX-License-Identifier: BSL-1.0
// An initial value of other extents.
// FAIL: \[onto\.shape\] the initial value does not broadcast to the extents of the variable
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto bad = variable<"w", float, 2>(zeros<float, 2>());
#else
constexpr auto bad = variable<"w", float, 2>(zeros<float, 3>());
#endif
