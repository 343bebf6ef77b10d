// SPDX-License-Identifier: BSL-1.0
// Values that are computed together with effects.
#include <onto/onto.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 4>;
constexpr auto w = variable<"w", float, 4>(zeros<float, 4>());
constexpr auto n = variable<"n", std::int64_t>(zeros<std::int64_t>());
constexpr auto loss = sum(w * x);
constexpr auto counted = group(loss, assign_add(n, 1_c));

// A group is its value, with the value's shape and type, and adds nothing to the graph but the effects.
static_assert(decltype(counted)::facts.shape == decltype(loss)::facts.shape);
static_assert(decltype(counted)::facts.type == element::float32);
static_assert(plan_of(counted).nodes == plan_of(loss).nodes + 2);  // the variable, and what assigns to it
static_assert(plan_of(counted).kernels == plan_of(loss).kernels + 1);

// The effects are done once, however often the group is used, and where only a gradient of it is fetched, too.
static_assert(plan_of(fetches(counted, counted * 2_c)).kernels == 2);  // the sum; its double and the count
static_assert(plan_of(gradient(counted, w)).kernels == plan_of(gradient(loss, w)).kernels + 1);
static_assert(plan_of(gradient(loss, w)).nodes < plan_of(gradient(counted, w)).nodes);

// In a scope the effects run where their variables are.
using two = world<cpu<0>, gpu<0>>;
static_assert(plan_of<two>(on<gpu<0>>(group(loss, assign_add(on<cpu<0>>(n), 1_c)))).transfers ==
              plan_of<two>(on<gpu<0>>(loss)).transfers);

}  // namespace
