// SPDX-License-Identifier: BSL-1.0
// Numbers in order of two axes.
// FAIL: \[onto\.shape\] iota has one axis
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
constexpr auto e = onto::reshape<3, 5>(onto::iota<float, 15>());
#else
constexpr auto e = onto::iota<float, 3, 5>();
#endif
