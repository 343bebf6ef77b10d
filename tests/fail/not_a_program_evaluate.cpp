// SPDX-License-Identifier: BSL-1.0
// What is evaluated is an expression.
// FAIL: \[onto\.run\] what runs is an expression, or fetches\(x, y\) of several
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
const tensor<float, 3> X{3, 1, 4};

#ifdef ONTO_TWIN
const auto y = evaluate(x * 2.0f, x = X);
#else
const auto y = evaluate(2.0f, x = X);
#endif
