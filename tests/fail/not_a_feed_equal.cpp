// SPDX-License-Identifier: BSL-1.0
// A feed is no comparison.
// FAIL: \[onto\.feed\] data is fed to a placeholder, without braces: sess\.run\(e, x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
const tensor<float, 2> X{1, 2};

#ifdef ONTO_TWIN
auto result(session& sess) { return sess.run(x, x = X); }
#else
auto result(session& sess) { return sess.run(x, x == X); }
#endif
