// SPDX-License-Identifier: BSL-1.0
// The extents of a placeholder are arguments of its type.
// FAIL: \[onto\.shape\] the extents of a placeholder or variable stand in its type
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
constexpr auto x = onto::placeholder<"x", float, 2, 3>;
#else
constexpr auto x = onto::placeholder<"x", float>(onto::shape<2, 3>{});
#endif
