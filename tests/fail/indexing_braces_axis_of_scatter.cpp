// SPDX-License-Identifier: BSL-1.0
// Rows are what scatter_add adds to; it takes no axis.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler
#include <onto/indexing.hpp>

constexpr auto x = onto::placeholder<"x", float, 3>;
#ifdef ONTO_TWIN
const auto y = scatter_add(x, {0, 1}, 1);
#else
const auto y = scatter_add(x, {0, 1}, 1, 0);
#endif
