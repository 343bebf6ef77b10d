// SPDX-License-Identifier: BSL-1.0
// Plans of steps of training: what is computed, what is kept, and where.
#include <onto/onto.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 32, 16>;
constexpr auto y = placeholder<"y", std::int32_t, 32>;
constexpr auto w = variable<"w", float, 16, 10>(zeros<float, 16, 10>());
constexpr auto b = variable<"b", float, 10>(zeros<float, 10>());
constexpr auto loss = softmax_cross_entropy(matmul(x, w) + b, y);

// The product and its bias; labels, rows and mean; the rows backward, the sum for the bias; the count; each parameter.
constexpr auto plain = plan_of(minimize<sgd{.rate = 0.1}>(loss));
static_assert(plain.kernels == 10);
static_assert(plain.kernels == plan_of(minimize<sgd{.rate = 0.1}>(loss, w, b)).kernels);

// One parameter: no sum for the other.
static_assert(plan_of(minimize<sgd{.rate = 0.1}>(loss, w)).kernels == 8);

// Adam's step is one launch for all parameters, with all that it keeps, after the product that is the gradient.
constexpr auto adaptive = plan_of(minimize<adam{}>(loss));
static_assert(adaptive.kernels == plain.kernels);  // the numbers for all are made where steps are counted

// What an option leaves out is not there; at run time nothing can be left out.
static_assert(plan_of(minimize<sgd{.momentum = 0.9}>(loss)).nodes > plain.nodes);
using known_when_it_runs = decltype(minimize(sgd{}, loss));
static_assert(plan_of(known_when_it_runs{detail::state_ref{}}).nodes > plain.nodes);

// Updates run where the variables are, and so do the variables of the optimizer: here nothing but the inputs and the
// loss is copied,
using one_gpu = world<cpu<0>, gpu<0>>;
constexpr auto there = plan_of<one_gpu>(minimize<adam{}>(on<gpu<0>>(loss)));
static_assert(there.transfers == 3 && there.kernels == adaptive.kernels);
// and here the parameters go to the GPU, and their gradients to where they live.
constexpr auto kept = softmax_cross_entropy(matmul(x, on<cpu<0>>(w)) + on<cpu<0>>(b), y);
constexpr auto back = plan_of<one_gpu>(minimize<sgd{}>(on<gpu<0>>(kept)));
static_assert(back.transfers == 7);

// Several optimizers count one step.
constexpr auto other = minimize<adam{}>(sum(square(variable<"v", float, 3>(ones<float, 3>()))));
static_assert(plan_of(fetches(minimize<sgd{}>(loss), other)).placeable);

}  // namespace
