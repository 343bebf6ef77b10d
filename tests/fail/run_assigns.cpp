// SPDX-License-Identifier: BSL-1.0
// A variable is no feed, and is assigned to; told once.
// FAIL: \[onto\.variable\] a variable is not fed; write sess\.run\(assign
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
constexpr auto w = variable<"w", float, 3, 4>(0_c);
#ifdef ONTO_TWIN
auto result(session& sess) { return sess.run(assign(w, x + 1), x = tensor<float, 3, 4>()); }
#else
auto result(session& sess) { return sess.run(w = x + 1, x = tensor<float, 3, 4>()); }
#endif
