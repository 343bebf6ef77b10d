// SPDX-License-Identifier: BSL-1.0
// Dropout without its key.
// FAIL: \[onto\.operands\] it takes other arguments: layer_norm\(x, gain, shift\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 8>;

#ifdef ONTO_TWIN
constexpr auto bad = dropout(x, 0.5_c, 7_c);
#else
constexpr auto bad = dropout(x, 0.5_c);
#endif
