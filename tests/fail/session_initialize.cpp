// SPDX-License-Identifier: BSL-1.0
// Variables that get their first values are named.
// FAIL: \[onto\.variable\] initialize takes variables, or what is computed of them
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto w = onto::variable<"w", float, 2, 3>(onto::zeros<float, 2, 3>());

#ifdef ONTO_TWIN
const auto first = onto::initialize(w);
#else
const auto first = onto::initialize();
#endif
