// SPDX-License-Identifier: BSL-1.0
// The extents of data that are in its type are checked.
// FAIL: \[onto\.shape\] the operands' extents differ and neither is 1
#include <onto/onto.hpp>

#include <array>

constexpr auto x = onto::placeholder<"x", float, 3>;
#ifdef ONTO_TWIN
const std::array<float, 3> data{};
#else
const std::array<float, 4> data{};
#endif

const auto y = x * data;
