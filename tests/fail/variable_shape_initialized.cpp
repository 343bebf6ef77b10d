// SPDX-License-Identifier: BSL-1.0
// An initial value of a column for a vector, and the variable is used: told of once.
// FAIL: \[onto\.shape\] the initial value does not broadcast to the extents of the variable.*squeeze<1>
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto w = variable<"w", float, 8>(squeeze<1>(zeros<float, 8, 1>()));
#else
constexpr auto w = variable<"w", float, 8>(zeros<float, 8, 1>());
#endif
void start(session& sess) { sess.run(initialize(w)); }
float total(session& sess) { return sess.run(sum(w * w)); }
