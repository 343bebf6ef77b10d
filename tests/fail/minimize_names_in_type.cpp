// SPDX-License-Identifier: BSL-1.0
// The same with options in the type.
// FAIL: \[onto\.optimizer\] what is trained are the variables themselves, not their names
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto w = onto::variable<"w", float, 2, 3>(onto::zeros<float, 2, 3>());

#ifdef ONTO_TWIN
const auto step = onto::minimize<onto::sgd{.rate = 0.1}>(sum(x * w), w);
#else
const auto step = onto::minimize<onto::sgd{.rate = 0.1}>(sum(x * w), "w");
#endif
