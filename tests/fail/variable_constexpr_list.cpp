// SPDX-License-Identifier: BSL-1.0
// Nor are values in a list.
// FAIL: \[onto\.number\] constexpr: 0_c, zeros<\.\.\.>\(\); or const auto
// ONLY: g++
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto w = variable<"w", double, 2>({0, 1});
#else
constexpr auto w = variable<"w", double, 2>({0, 1});
#endif
