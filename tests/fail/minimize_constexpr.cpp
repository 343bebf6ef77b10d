// SPDX-License-Identifier: BSL-1.0
// Options of the run in a constant step.
// FAIL(g++): \[onto\.number\] a constexpr step: minimize<adam
// FAIL(clang++): \[onto\.number\] a constexpr step: minimize<adam
// FAIL(nvcc): must_not_be_constexpr
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
constexpr auto loss = sum(square(w));

#ifdef ONTO_TWIN
constexpr auto step = minimize<adam{.rate = 0.01}>(loss);
#else
constexpr auto step = minimize(adam{.rate = 0.01}, loss);
#endif
