// SPDX-License-Identifier: BSL-1.0
// Without a session too.
// FAIL: \[onto\.feed\] data is fed to a placeholder
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
constexpr auto y = placeholder<"y", float, 2, 3>;
const tensor<float, 2, 3> X{{1, 2, 3}, {4, 5, 6}};

#ifdef ONTO_TWIN
auto result() { return evaluate(exp(x), x = X); }
#else
auto result() { return evaluate(exp(x), X); }
#endif
