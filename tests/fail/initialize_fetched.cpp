// SPDX-License-Identifier: BSL-1.0
// Initialization among results.
// FAIL: \[onto\.variable\] initialize is a run of its own
#include <onto/onto.hpp>

using namespace onto;

const auto w = variable<"w", float, 2>(zeros<float, 2>());

#ifdef ONTO_TWIN
void set(session& s) { s.run(fetches(w + 1, w)); }
#else
void set(session& s) { s.run(fetches(w + 1, initialize(w))); }
#endif
