// SPDX-License-Identifier: BSL-1.0
// The triangle of a matrix whose extents are not known.
// FAIL: \[onto\.shape\] tril, triu: the last two extents
#include <onto/ops/matrix.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto a = placeholder<"a", float, dyn, 3, 3>;
#else
constexpr auto a = placeholder<"a", float, dyn, 3>;
#endif
constexpr auto bad = tril(a);
