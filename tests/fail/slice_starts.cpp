// SPDX-License-Identifier: BSL-1.0
// An expression among numbers in braces.
// FAIL: \[onto\.operands\] it takes other arguments: dynamic_slice.*stack\(0, k, 0\)
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 8>;
constexpr auto k = placeholder<"k", int>;

#ifdef ONTO_TWIN
auto slice_of() { return dynamic_slice<1, 8>(x, stack(k, 0)); }
#else
auto slice_of() { return dynamic_slice<1, 8>(x, {k, 0}); }
#endif
