// SPDX-License-Identifier: BSL-1.0
// What comes with effects is one value; the others are fetched beside it.
// FAIL: \[onto\.operands\] group is one value with its effects; among several it is one
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 3>;
constexpr auto w = onto::variable<"w", float, 3>;

#ifdef ONTO_TWIN
const auto both = onto::fetches(sum(x), onto::group(max(x), assign(w, x)));
#else
const auto both = onto::group(onto::fetches(sum(x), max(x)), assign(w, x));
#endif
