// SPDX-License-Identifier: BSL-1.0
// A result with a letter that no operand has.
// FAIL: \[onto\.einsum\] letters for axes
#include <onto/ops/einsum.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 3, 4>;
#ifdef ONTO_TWIN
constexpr auto bad = einsum<"ij->j">(a);
#else
constexpr auto bad = einsum<"ij->k">(a);
#endif
