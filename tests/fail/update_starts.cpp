// SPDX-License-Identifier: BSL-1.0
// An expression among numbers in braces, where an update goes.
// FAIL: \[onto\.operands\] it takes other arguments: dynamic_slice.*stack\(0, k, 0\)
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 8>;
constexpr auto k = placeholder<"k", int>;

#ifdef ONTO_TWIN
auto updated() { return update_slice(x, zeros<float, 1, 8>(), stack(k, 0)); }
#else
auto updated() { return update_slice(x, zeros<float, 1, 8>(), {k, 0}); }
#endif
