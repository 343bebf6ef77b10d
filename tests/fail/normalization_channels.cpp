// SPDX-License-Identifier: BSL-1.0
// The channels that batch normalization keeps statistics of are in the type.
// FAIL: \[onto\.shape\] the extent of the last axis, the channels
#include <onto/onto.hpp>

using namespace onto;

constexpr auto one = placeholder<"one", float, 5>;
#ifdef ONTO_TWIN
constexpr auto x = placeholder<"x", float, dyn, 5>;
#else
constexpr auto x = placeholder<"x", float, dyn, dyn>;
#endif
constexpr auto y = batch_norm<"bn">(x, one, one);
