// SPDX-License-Identifier: BSL-1.0
// A layer whose statistics have no name.
// FAIL: \[onto\.operands\] it takes other arguments: layer_norm\(x, gain, shift\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 8>;
constexpr auto gain = placeholder<"gain", float, 8>;

#ifdef ONTO_TWIN
constexpr auto bad = batch_norm<"norm">(x, gain, gain);
#else
constexpr auto bad = batch_norm(x, gain, gain);
#endif
