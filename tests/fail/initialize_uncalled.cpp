// SPDX-License-Identifier: BSL-1.0
// The word without what it sets.
// FAIL: \[onto\.variable\] initialize takes variables
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 2>(zeros<float, 2>());

#ifdef ONTO_TWIN
void set(session& s) { s.run(initialize(w)); }
#else
void set(session& s) { s.run(initialize); }
#endif
