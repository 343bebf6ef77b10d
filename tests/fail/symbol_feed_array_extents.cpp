// SPDX-License-Identifier: BSL-1.0
// Arrays in an array have their extents in their type.
// FAIL: \[onto\.tensor\] the array has other extents than the tensor type
#include <onto/onto.hpp>

#include <array>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
#ifdef ONTO_TWIN
const std::array<std::array<float, 3>, 2> data{};
#else
const std::array<std::array<float, 2>, 3> data{};
#endif

const auto fed = x = data;
