// SPDX-License-Identifier: BSL-1.0
// What depends on an element's place is in the kernel beside it.
#include <onto/onto.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 5, 4, 4>;
constexpr auto n = placeholder<"n", int, dyn>;

static_assert(plan_of(tril(exp(x)) * 2_c).kernels == 1);
static_assert(decltype(triu<-1>(x))::facts.shape == extents(shape<5, 4, 4>{}));
static_assert(decltype(one_hot<7>(n))::facts.shape == extents(shape<dyn, 7>{}));
static_assert(decltype(one_hot<7, double>(n))::facts.type == element::float64);

}  // namespace
