// SPDX-License-Identifier: BSL-1.0
// The result of a run is a number, the expression is not.
// FAIL: \[onto\.run\] an expression has no value before it is run; take that of sess\.run\(e\) or evaluate\(e\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
float total(onto::session& sess) { return sess.run(sum(x), x = {{1, 2, 3}, {4, 5, 6}}); }
#else
float total(onto::session&) { return sum(x); }
#endif
