// SPDX-License-Identifier: BSL-1.0
// A loss has a variable to learn.
// FAIL: \[onto\.optimizer\] there is no variable
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
#ifdef ONTO_TWIN
constexpr auto step = minimize<sgd{.rate = 0.1}>(sum(square(x)) + sum(w));
#else
constexpr auto step = minimize<sgd{.rate = 0.1}>(sum(square(x)) + sum(stop_gradient(w)));
#endif
