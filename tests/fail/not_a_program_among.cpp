// SPDX-License-Identifier: BSL-1.0
// All that is fetched are expressions, or tuples of them.
// FAIL: \[onto\.run\] what runs is an expression, or fetches\(x, y\) of several
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
const tensor<float, 2> X{1, 2};

#ifdef ONTO_TWIN
auto results(session& sess) { return sess.run(fetches(x, split<2>(x), sum(x)), x = X); }
#else
auto results(session& sess) { return sess.run(fetches(x, "y", sum(x)), x = X); }
#endif
