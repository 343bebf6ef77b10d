// SPDX-License-Identifier: BSL-1.0
// Which elements are left out is decided by a key.
// FAIL: \[onto\.operands\] dropout takes a rate and a key, .*dropout\(x, 0\.5, 1\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;

#ifdef ONTO_TWIN
const auto y = dropout(x, 0.5f, 1) * 2.0f;
#else
const auto y = dropout(x, 0.5f) * 2.0f;
#endif
