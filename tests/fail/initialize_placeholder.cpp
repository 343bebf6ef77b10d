// SPDX-License-Identifier: BSL-1.0
// A placeholder has no value to begin with.
// FAIL: \[onto\.variable\] a placeholder or constant has no initial value to be set
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
const auto w = variable<"w", float, 3>(0.5f);

#ifdef ONTO_TWIN
void begin(session& sess) { sess.run(initialize(w)); }
#else
void begin(session& sess) { sess.run(initialize(x)); }
#endif
