// SPDX-License-Identifier: BSL-1.0
// A permutation names every axis.
// FAIL: \[onto\.axis\] an axis is out of range, named twice or left out
#include <onto/ops/view.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 2>;

#ifdef ONTO_TWIN
constexpr auto turned = permute<1, 0>(x);
#else
constexpr auto turned = permute<0>(x);
#endif
