// SPDX-License-Identifier: BSL-1.0
// Several are prepared as a list.
// FAIL: \[onto\.run\] several results are one list
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto y = placeholder<"y", float, 2>;

#ifdef ONTO_TWIN
auto step(session& sess) { return sess.prepare(fetches(x, y)); }
#else
auto step(session& sess) { return sess.prepare(x, y); }
#endif
