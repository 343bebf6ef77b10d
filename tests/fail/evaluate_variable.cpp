// SPDX-License-Identifier: BSL-1.0
// Variables live in a session.
// FAIL: \[onto\.run\] evaluate has no variables, which live in a session
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 2>;

#ifdef ONTO_TWIN
void add(session& sess) { sess.run(assign_add(w, 1)); }
#else
void add() { evaluate(assign_add(w, 1)); }
#endif
