// SPDX-License-Identifier: BSL-1.0
// A first value of run time is in no constant expression; one in the type is.
// FAIL: \[onto\.number\] constexpr: 0_c, zeros<\.\.\.>\(\); or const auto
// ONLY: g++ clang++
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto w = variable<"w", double, 3>(0_c);
#else
constexpr auto w = variable<"w", double, 3>(0);
#endif
