// SPDX-License-Identifier: BSL-1.0
// Two assignments to one variable in one run have no order.
// FAIL: \[onto\.variable\] one run assigns to a variable twice
// FAIL: variable_is_assigned_twice
#include <onto/onto.hpp>

using namespace onto;

inline constexpr auto w = variable<"w", float, 2>;
inline constexpr auto v = variable<"v", float, 2>;

void step(session& sess) {
#ifdef ONTO_TWIN
  sess.run(fetches(assign_add(w, 1.0f), assign_add(v, 2.0f)));
#else
  sess.run(fetches(assign_add(w, 1.0f), assign_sub(w, 2.0f)));
#endif
}
