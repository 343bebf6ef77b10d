// SPDX-License-Identifier: BSL-1.0
// A placeholder is fed by its name, not by pairs as of a dictionary.
// FAIL: \[onto\.feed\] data is fed to a placeholder, without braces: sess.run\(e, x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto y = placeholder<"y", float, 2>;
const tensor<float, 2> X{1, 2};

#ifdef ONTO_TWIN
auto result(session& sess) { return sess.run(x + y, x = X, y = X); }
#else
auto result(session& sess) { return sess.run(x + y, {{x, X}, {y, X}}); }
#endif
