// SPDX-License-Identifier: BSL-1.0
// A variable is assigned to, not fed, a list neither.
// FAIL: \[onto\.variable\] a variable is not fed; write sess\.run\(assign\(w, value\)\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 2>;

void set(session& sess) {
#ifdef ONTO_TWIN
  sess.run(assign(w, constant({1.f, 2.f})));
#else
  sess.run(assign(w, w), w = {1, 2});
#endif
}
