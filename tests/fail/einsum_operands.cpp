// SPDX-License-Identifier: BSL-1.0
// More axes than letters.
// FAIL: \[onto\.einsum\] as many operands as groups
#include <onto/ops/einsum.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 3, 4>;
#ifdef ONTO_TWIN
constexpr auto bad = einsum<"ij->i">(a);
#else
constexpr auto bad = einsum<"i->i">(a);
#endif
