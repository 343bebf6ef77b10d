// SPDX-License-Identifier: BSL-1.0
// The median of integers, which may lie between two.
// FAIL: \[onto\.element\] the operation has no kernel for this element type; convert with cast<T>\(x\)
#include <onto/sort.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", int, 4, 5>;
#ifdef ONTO_TWIN
constexpr auto bad = median(cast<double>(a));
#else
constexpr auto bad = median(a);
#endif
