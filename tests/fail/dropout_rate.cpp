// SPDX-License-Identifier: BSL-1.0
// A rate is a share.
// FAIL: \[onto\.number\] dropout: the rate is a share of the elements, 0 to 1
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;

#ifdef ONTO_TWIN
const auto y = dropout(x, 0.5_c, 1_c);
#else
const auto y = dropout(x, 50_c, 1_c);
#endif
