// SPDX-License-Identifier: BSL-1.0
// An optimizer has the options that it has.
// FAIL: beta1
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
#ifdef ONTO_TWIN
const auto step = minimize(adam{.beta1 = 0.9}, sum(square(w* x)));
#else
const auto step = minimize(sgd{.beta1 = 0.9}, sum(square(w* x)));
#endif
