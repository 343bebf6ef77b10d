// SPDX-License-Identifier: BSL-1.0
// Several results of a run are a list that knows their types.
// FAIL: \[onto\.run\] several results are one list: sess.run\(fetches\(x, y\), name = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto y = placeholder<"y", float, 2>;
const tensor<float, 2> X{1, 2};

#ifdef ONTO_TWIN
auto results(session& sess) { return sess.run(fetches(x + y, x * y), x = X, y = X); }
#else
auto results(session& sess) { return sess.run({x + y, x * y}, x = X, y = X); }
#endif
