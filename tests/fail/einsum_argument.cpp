// SPDX-License-Identifier: BSL-1.0
// The letters stand in <>.
// FAIL: \[onto\.einsum\] the letters are known to the compiler: einsum<
#include <onto/einsum.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = einsum<"ij,kj->ik">(x, x);
#else
const auto y = einsum("ij,kj->ik", x, x);
#endif
