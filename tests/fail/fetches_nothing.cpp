// SPDX-License-Identifier: BSL-1.0
// Fetches of nothing.
// FAIL: \[onto\.run\] fetches\(\) names nothing
#include <onto/onto.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
#ifdef ONTO_TWIN
constexpr auto results = fetches(a);
#else
constexpr auto results = fetches();
#endif
