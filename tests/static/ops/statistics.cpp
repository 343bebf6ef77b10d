// SPDX-License-Identifier: BSL-1.0
// Shapes of words made of reductions, and in how many kernels they run.
#include <onto/onto.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 4, 6>;
constexpr auto d = placeholder<"d", double, dyn, dyn>;

static_assert(decltype(var(x))::facts.shape == extents{});
static_assert(decltype(var<0>(x))::facts.shape == extents(shape<6>{}));
static_assert(decltype(stddev<-1>(d, keep_extents))::facts.shape == extents(shape<dyn, 1>{}));
static_assert(decltype(logsumexp<0>(d))::facts.shape == extents(shape<dyn>{}));
static_assert(decltype(logsumexp<0, 1>(d, keep_extents))::facts.shape == extents(shape<1, 1>{}));
static_assert(decltype(norm(d))::facts.shape == extents{});

// The variance of rows is one kernel over rows, and what is divided by it is in it.
static_assert(plan_of(var<1>(x)).kernels == 1);
static_assert(plan_of((x - mean<1>(x, keep_extents)) / stddev<1>(x, keep_extents)).kernels == 1);

// The mean that the variance of all is around is the one beside it.
static_assert(plan_of(fetches(mean(x), var(x))).kernels == 2);
static_assert(plan_of((x - mean(x)) / stddev(x)).kernels == 3);

}  // namespace
