// SPDX-License-Identifier: BSL-1.0
// Variables are operands, as many as there are, not a list.
// FAIL: \[onto\.optimizer\] what is trained stands without braces: minimize\(sgd\{\}, loss, w, b\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto w = onto::variable<"w", float, 2, 3>(onto::zeros<float, 2, 3>());
constexpr auto b = onto::variable<"b", float, 3>(onto::zeros<float, 3>());

#ifdef ONTO_TWIN
const auto step = minimize(onto::sgd{}, sum(x* w + b), w, b);
#else
const auto step = minimize(onto::sgd{}, sum(x* w + b), {w, b});
#endif
