// SPDX-License-Identifier: BSL-1.0
// What is trained is named by the variable itself.
// FAIL: \[onto\.optimizer\] what is trained are the variables themselves, not their names
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto w = onto::variable<"w", float, 2, 3>(onto::zeros<float, 2, 3>());

#ifdef ONTO_TWIN
const auto step = minimize(onto::sgd{}, sum(x* w), w);
#else
const auto step = minimize(onto::sgd{}, sum(x* w), "w");
#endif
