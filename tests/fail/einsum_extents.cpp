// SPDX-License-Identifier: BSL-1.0
// One letter for axes of different extents.
// FAIL: \[onto\.shape\] einsum: axes of one letter
#include <onto/ops/einsum.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 3, 4>;
#ifdef ONTO_TWIN
constexpr auto bad = einsum<"ij,kj->ik">(a, a);
#else
constexpr auto bad = einsum<"ij,jk->ik">(a, a);
#endif
