// SPDX-License-Identifier: BSL-1.0
// Data is fed under the name of its placeholder.
// FAIL: \[onto\.feed\] data is fed to a placeholder, without braces: sess.run\(e, x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
constexpr auto y = placeholder<"y", float, 2, 3>;
const tensor<float, 2, 3> X{{1, 2, 3}, {4, 5, 6}};

#ifdef ONTO_TWIN
auto result(session& sess) { return sess.run(x + y, x = X, y = X); }
#else
auto result(session& sess) { return sess.run(x + y, X, X); }
#endif
