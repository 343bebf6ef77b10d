// SPDX-License-Identifier: BSL-1.0
// Batches: the kernels that write parameters by one program are one launch, whatever the parameters' extents are.
#include <onto/onto.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 4, 8>;
constexpr auto y = placeholder<"y", std::int32_t, 4>;

// ---- a perceptron of three layers -------------------------------------------------------------------------

constexpr auto w1 = variable<"w1", float, 8, 16>(zeros<float, 8, 16>());
constexpr auto b1 = variable<"b1", float, 16>(zeros<float, 16>());
constexpr auto w2 = variable<"w2", float, 16, 12>(zeros<float, 16, 12>());
constexpr auto b2 = variable<"b2", float, 12>(zeros<float, 12>());
constexpr auto w3 = variable<"w3", float, 12, 10>(zeros<float, 12, 10>());
constexpr auto b3 = variable<"b3", float, 10>(zeros<float, 10>());
constexpr auto hidden = relu(matmul(relu(matmul(x, w1) + b1), w2) + b2);
constexpr auto loss = softmax_cross_entropy(matmul(hidden, w3) + b3, y);

/// The launches of a plan in which variables are written.
template <class Plan>
constexpr int writing(const Plan& p) {
  int count = 0;
  for (int k = 0; k < p.step_count; ++k) count += p.steps[k].value >= 0 && p.values[p.steps[k].value].variable ? 1 : 0;
  return count;
}
/// The most kernels that are one launch.
template <class Plan>
constexpr int most_batched(const Plan& p) {
  int most = 0;
  for (int k = 0; k < p.step_count; ++k) most = p.steps[k].batched > most ? p.steps[k].batched : most;
  return most;
}

// Adam's step is one launch for all six parameters and the twelve variables beside them, and one that counts.
constexpr auto by_adam = plan_of(minimize<adam{}>(loss));
static_assert(writing(by_adam) == 2 && most_batched(by_adam) == 6);
// It is in place: a step takes the memory of the gradients, which are there together, and no new values.
static_assert(by_adam.values[by_adam.value_count - 1].in_place);
static_assert(by_adam.peak_bytes(cpu<0>{}) <= 2 * 4 * (8 * 16 + 16 + 16 * 12 + 12 + 12 * 10 + 10) + 16 * 256);
// What it adds to the gradients alone: the count and two numbers for all, which are one kernel, and that launch.
constexpr auto gradients_of_all = plan_of(fetches(loss, gradient(loss, w1), gradient(loss, b1), gradient(loss, w2),
                                                  gradient(loss, b2), gradient(loss, w3), gradient(loss, b3)));
static_assert(by_adam.kernels == gradients_of_all.kernels + 2);

// The products of stochastic gradient descent write the weights themselves, and one launch writes the three biases.
constexpr auto by_sgd = plan_of(minimize<sgd{.rate = 0.1}>(loss));
static_assert(writing(by_sgd) == 3 + 1 + 1 && most_batched(by_sgd) == 3);
// With momentum they write the momenta, and a launch the weights; the biases and theirs are another one.
static_assert(writing(plan_of(minimize<sgd{.rate = 0.1, .momentum = 0.9}>(loss))) == 3 + 1 + 1 + 1);
static_assert(writing(plan_of(minimize<rmsprop{}>(loss))) == 2);
static_assert(writing(plan_of(minimize<adamw{}>(clip_by_global_norm(1.0_c), loss))) == 2);

// ---- what makes a batch -----------------------------------------------------------------------------------

constexpr auto u = variable<"u", float, 3>;
constexpr auto v = variable<"v", float, 2, 5>;
constexpr auto d = variable<"d", double, 7>;

// Programs are one batch where operations, types and operands agree.
static_assert(writing(plan_of(fetches(assign(u, (u * 2_c)), assign(v, (v * 2_c))))) == 1);
static_assert(writing(plan_of(fetches(assign(u, (u * 2_c)), assign(v, (v * 3_c))))) == 2);
static_assert(writing(plan_of(fetches(assign(u, (u * 2_c)), assign(v, v + 2_c)))) == 2);
static_assert(writing(plan_of(fetches(assign(u, (u * 2_c)), assign(d, (d * 2_c))))) == 2);
static_assert(writing(plan_of(fetches(assign(u, (u * 2_c)), assign(v, (v * v))))) == 2);

// A variable of one number is a part like any other.
constexpr auto n = variable<"n", float>;
static_assert(writing(plan_of(fetches(assign(u, (u * 2_c)), assign(n, (n * 2_c)), assign(v, (v * 2_c))))) == 1);
static_assert(most_batched(plan_of(fetches(assign(u, (u * 2_c)), assign(n, (n * 2_c))))) == 2);

// One number for all is no obstacle, a row for each is: its elements do not lie as the variable's do.
constexpr auto rate = placeholder<"rate", float>;
constexpr auto row = placeholder<"row", float, 5>;
constexpr auto same = placeholder<"same", float, 3>;
static_assert(writing(plan_of(fetches(assign(u, (u * rate)), assign(v, (v * rate))))) == 1);
static_assert(writing(plan_of(fetches(assign(u, (u * same)), assign(v, (v * row))))) == 2);

// What is read through a transposition is not in a row either; what is reshaped is.
constexpr auto t = placeholder<"t", float, 5, 2>;
constexpr auto flat = placeholder<"flat", float, 10>;
static_assert(writing(plan_of(fetches(assign(u, (u * same)), assign(v, (v * transpose(t)))))) == 2);
static_assert(writing(plan_of(fetches(assign(u, (u * same)), assign(v, (v * reshape<2, 5>(flat)))))) == 1);

// What another kernel waits for is not part of a batch: it would wait for the others.
static_assert(writing(plan_of(fetches(sum(assign(u, (u * 2_c))), assign(v, (v * 2_c))))) == 2);

// Of equal extents they are a batch too, with those of others, unless they read the same values: then they are merged.
constexpr auto u2 = variable<"u2", float, 3>;
static_assert(most_batched(plan_of(fetches(assign(u, (u * rate)), assign(u2, (u2 * rate)), assign(v, (v * rate))))) ==
              3);
static_assert(most_batched(plan_of(fetches(assign(u, (u * same)), assign(u2, (u2 * same))))) == 1);
static_assert(writing(plan_of(fetches(assign(u, (u * same)), assign(u2, (u2 * same))))) == 1);

// On two devices it is two.
using two_gpus = world<cpu<0>, gpu<0>, gpu<1>>;
static_assert(writing(plan_of<two_gpus>(fetches(assign(on<gpu<0>>(u), on<gpu<0>>(u) * 2_c),
                                                assign(on<gpu<1>>(v), on<gpu<1>>(v) * 2_c)))) == 2);

}  // namespace
