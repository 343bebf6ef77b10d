// SPDX-License-Identifier: BSL-1.0
// The time a plan takes: a specification, each line of it proven by the compiler. What a session measures is compared
// in tests/unit/session/estimate.cpp.
#include <onto/ops/all.hpp>
#include <onto/plan/estimate.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 100, 100>;  // 40000 bytes
constexpr auto y = placeholder<"y", float, 100, 100>;
constexpr auto one = on<gpu<0>>(x + y);

// Seconds that are easy to add up: a product of these matrices takes 2, a copy from or to the host 4, between GPUs 1.
constexpr cost_model simple{.flops = 1e6, .link_bandwidth = 40000, .host_bandwidth = 10000};

constexpr auto product = on<gpu<0>>(matmul(x, y));
constexpr auto hop = on<gpu<1>>(matmul(product, product));
constexpr auto towers_of_two = on<cpu<0>>(add_n(on<gpu<0>>(matmul(x, x)), on<gpu<1>>(matmul(y, y))));

constexpr bool equal(double a, double b) { return (a > b ? a - b : b - a) <= 1e-12 * b; }

template <class Plan>
constexpr double seconds(const Plan& p) {
  return estimate(p, simple).seconds;
}

// Two copies in, one after the other; the product; its copy out.
static_assert(equal(seconds(plan_of(product)), 4 + 4 + 2 + 4));

// What crosses from one GPU to another takes the link between them.
static_assert(equal(seconds(plan_of(hop)), 4 + 4 + 2 + 1 + 2 + 4));

// Each GPU has its own way to the host: two take as long as one.
static_assert(equal(seconds(plan_of(towers_of_two)), 4 + 2 + 4));

// On one GPU the second copy in lies beside the first product, and the second product beside the first copy out.
static_assert(equal(seconds(plan_of<world<cpu<0>, gpu<0>>>(towers_of_two)), 4 + 4 + 2 + 4));

// A host without a rate takes no time.
static_assert(equal(seconds(plan_of<world<cpu<0>>>(towers_of_two)), 0));

// With one: the longer of its operations and of what it reads and writes.
static_assert(equal(estimate(plan_of<world<cpu<0>>>(product), {.host_flops = 1e6}).seconds, 2));
static_assert(equal(estimate(plan_of<world<cpu<0>>>(product), {.host_memory_bandwidth = 10000}).seconds, 12));
static_assert(
    equal(estimate(plan_of<world<cpu<0>>>(product), {.host_flops = 1e5, .host_memory_bandwidth = 1e4}).seconds, 20));

// Latency is paid for each kernel and each copy: x and y, the sum, the result.
static_assert(equal(estimate(plan_of(one), {.kernel_latency = 1, .copy_latency = 10}).seconds, 31));

// A device's time is its own.
constexpr auto two = estimate(plan_of(towers_of_two), simple);
static_assert(equal(two.at(gpu<0>{}).busy, 2) && equal(two.at(gpu<1>{}).busy, 2) && two.at(cpu<0>{}).busy == 0);
static_assert(equal(two.at(gpu<1>{}).copying, 4 + 4) && two.at(gpu<7>{}).copying == 0);

// Steps have their begin and end: the sum on the CPU is the last and waits for both.
static_assert(two.step_count == plan_of(towers_of_two).step_count);
static_assert(two.steps[0].begin == 0 && equal(two.steps[0].end, 4));
static_assert(equal(two.steps[two.step_count - 1].begin, 4 + 2 + 4));

// A program of a real size, by the data sheet.
constexpr auto large = placeholder<"large", float, 10000, 10000>;
static_assert(estimate(plan_of(on<gpu<0>>(matmul(large, large))), h200).seconds > 0.03);
static_assert(estimate(plan_of(on<gpu<0>>(matmul(large, large))), h200).seconds < 0.06);

}  // namespace
