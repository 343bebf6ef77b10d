// SPDX-License-Identifier: BSL-1.0
// Several results of a run are one list.
// FAIL: \[onto\.run\] several results are one list: sess.run\(fetches\(x, y\), name = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
constexpr auto y = placeholder<"y", float, 2, 3>;
const tensor<float, 2, 3> X{{1, 2, 3}, {4, 5, 6}};

#ifdef ONTO_TWIN
auto results(session& sess) { return sess.run(fetches(x + y, x * y), x = X, y = X); }
#else
auto results(session& sess) { return sess.run(x + y, x * y, x = X, y = X); }
#endif
