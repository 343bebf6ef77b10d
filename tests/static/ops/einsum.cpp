// SPDX-License-Identifier: BSL-1.0
// What letters are made into: the kernels one would write, in the order of least multiplications.
#include <onto/einsum.hpp>

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", float, 20, 30>;
constexpr auto b = placeholder<"b", float, 30, 40>;
constexpr auto v = placeholder<"v", float, 40>;
constexpr auto d = placeholder<"d", float, dyn, dyn, dyn>;

template <class E>
constexpr extents shape_of = E::facts.shape;

// A product is matmul, whichever operand is transposed, and whatever the order of the result.
static_assert(plan_of(einsum<"ij,jk->ik">(a, b)).flops == plan_of(matmul(a, b)).flops);
static_assert(plan_of(einsum<"ij,jk->ik">(a, b)).kernels == 1);
static_assert(plan_of(einsum<"ij,jk->ki">(a, b)).kernels == 1);
static_assert(plan_of(einsum<"ji,kj->ik">(transpose(a), transpose(b))).kernels == 1);
static_assert(shape_of<decltype(einsum<"ij,jk">(a, b))> == extents(shape<20, 40>{}));

// What has no letters of its own is multiplied and summed up in one kernel.
static_assert(plan_of(einsum<"ij,ij->i">(a, a)).kernels == 1);

// A chain begins where that is least work: with the vector.
static_assert(plan_of(einsum<"ij,jk,k->i">(a, b, v)).flops == 2 * (30 * 40 + 20 * 30));
static_assert(plan_of(einsum<"k,ij,jk->i">(v, a, b)).flops == 2 * (30 * 40 + 20 * 30));

// Extents that are not known.
static_assert(shape_of<decltype(einsum<"bij,bjk->bik">(d, d))> == extents(shape<dyn, dyn, dyn>{}));
static_assert(plan_of(einsum<"bij,bjk->bik">(d, d)).kernels == 1);

}  // namespace
