// SPDX-License-Identifier: BSL-1.0
// Nor is a list of numbers a matrix.
// FAIL: \[onto\.feed\] the data has another rank than the placeholder
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto fed = x = {{1, 2, 3}, {4, 5, 6}};
#else
const auto fed = x = {1, 2, 3, 4, 5, 6};
#endif
