// SPDX-License-Identifier: BSL-1.0
// What is minimized is a single number.
// FAIL: \[onto\.gradient\] the loss is not a single number
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
#ifdef ONTO_TWIN
constexpr auto step = minimize<sgd{.rate = 0.1}>(sum(square(w * x)));
#else
constexpr auto step = minimize<sgd{.rate = 0.1}>(square(w * x));
#endif
