// SPDX-License-Identifier: BSL-1.0
// What is prepared is an expression.
// FAIL: \[onto\.run\] what runs is an expression, and this is data, whose values are there
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto y = placeholder<"y", float, 2>;
const tensor<float, 2> X{1, 2};

#ifdef ONTO_TWIN
auto step(session& sess) { return sess.prepare(x + y); }
#else
auto step(session& sess) { return sess.prepare(X); }
#endif
