// SPDX-License-Identifier: BSL-1.0
// Values in braces are fed by the placeholder's name too, where there is but one.
// FAIL: \[onto\.feed\] data is fed to a placeholder, without braces: sess\.run\(e, x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 1, 3>;

#ifdef ONTO_TWIN
tensor<float, 1, 3> f(session& sess) { return sess.run(x * 2, x = {{1, 2, 3}}); }
#else
tensor<float, 1, 3> f(session& sess) { return sess.run(x * 2, {{1, 2, 3}}); }
#endif
