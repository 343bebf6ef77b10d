// SPDX-License-Identifier: BSL-1.0
// A word of Python's in the way of Python.
// FAIL: deleted
// FAIL(g++): \[onto\.axis\] the word alone is enough
// FAIL(clang++): \[onto\.axis\] the word alone is enough
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 8>;

#ifdef ONTO_TWIN
constexpr auto bad = mean(x, keep_extents);
#else
constexpr auto bad = mean(x, keep_extents = true);
#endif
