// SPDX-License-Identifier: BSL-1.0
// A number of the run in a constant step.
// FAIL(g++): \[onto\.number\] a number in a constexpr expression: 2\.0_c
// FAIL(clang++): \[onto\.number\] a number in a constexpr expression: 2\.0_c
// FAIL(nvcc): must_not_be_constexpr
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
constexpr auto loss = sum(square(w));

#ifdef ONTO_TWIN
constexpr auto step = minimize<adam{.rate = 0.01}>(clip_by_global_norm(1.0_c), loss);
#else
constexpr auto step = minimize<adam{.rate = 0.01}>(clip_by_global_norm(1.0), loss);
#endif
