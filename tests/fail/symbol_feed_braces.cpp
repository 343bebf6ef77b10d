// SPDX-License-Identifier: BSL-1.0
// A list of lists is no vector.
// FAIL: \[onto\.feed\] the data has another rank than the placeholder
#include <onto/onto.hpp>

using namespace onto;

constexpr auto v = placeholder<"v", float, dyn>;

#ifdef ONTO_TWIN
const auto fed = v = {1, 2, 3, 4};
#else
const auto fed = v = {{1, 2}, {3, 4}};
#endif
