// SPDX-License-Identifier: BSL-1.0
// Plans of programs whose GPUs copy to each other and add up among themselves, and the time that these take.
#define ONTO_HAS_NCCL 1
#include <onto/cluster_model.hpp>
#include <onto/ops/all.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 100, 100>;  // 40000 bytes

// A product takes 2 seconds, a copy from or to the host 4; a message of a matrix 1 + 1 between GPUs of one node, 1 + 3
// between hosts there, and 1 + 4 between nodes.
constexpr cluster_model pairs{
    .device = {.flops = 1e6, .link_bandwidth = 40000, .host_bandwidth = 10000, .host_flops = 1e6},
    .tasks_per_node = 2,
    .node_bandwidth = 40000. / 3,
    .node_latency = 1,
    .network_bandwidth = 10000,
    .network_latency = 1};
constexpr bool equal(double a, double b) { return (a > b ? a - b : b - a) <= 1e-12 * b; }
template <class Plan>
constexpr double seconds(const Plan& p, int tasks) {
  return estimate(p, pairs).seconds - 2 * pairs.agreement(tasks);
}

template <int K>
using g = task<"w", K, gpu<0>>;

// A message from GPU to GPU is one copy. The feed is copied to the first, and the result of the second to both hosts.
constexpr auto first = on<g<0>>(matmul(x, x));
constexpr auto hop = on<task<"w", 1>>(on<g<1>>(matmul(first, first)));
static_assert(plan_of(hop).messages == 1 && plan_of(hop).direct == 1 && plan_of(hop).direct_bytes == 40000);
static_assert(plan_of(hop).transfers == 3);
static_assert(equal(seconds(plan_of(hop), 2), 4 + 2 + 2 + 2 + 4));
// What takes a message is in the time of the GPUs.
static_assert(equal(estimate(plan_of(hop), pairs).at(g<1>{}).copying, 2 + 4));
static_assert(equal(estimate(plan_of(hop), pairs).at(task<"w", 1, cpu<0>>{}).copying, 0));

// A host's values go by the hosts.
constexpr auto of_host = on<task<"w", 0, cpu<0>>>(matmul(x, x));
constexpr auto from_host = on<g<1>>(matmul(of_host, of_host));
static_assert(plan_of(from_host).messages == 1 && plan_of(from_host).direct == 0);

// Sums, values side by side, and rows of sums are on the GPUs; what one makes goes to three others as a broadcast.
constexpr auto total = on<g<0>>(tanh(x)) + on<g<1>>(exp(x));
constexpr auto used = fetches(on<g<0>>(sum(exp(total))), on<g<1>>(sum(tanh(total))));
static_assert(plan_of(used).all_reduces == 1 && plan_of(used).direct == 1 && plan_of(used).messages == 1);  // x
constexpr auto beside = concat<0>(on<g<0>>(tanh(x)), on<g<1>>(exp(x)));
static_assert(plan_of(fetches(on<g<0>>(sum(beside)), on<g<1>>(sum(beside)))).direct == 1);
constexpr auto columns = concat<1>(on<g<0>>(tanh(x)), on<g<1>>(exp(x)));  // whose rows are not in one piece
static_assert(plan_of(fetches(on<g<0>>(sum(columns)), on<g<1>>(sum(columns)))).all_gathers == 1);
static_assert(plan_of(fetches(on<g<0>>(sum(columns)), on<g<1>>(sum(columns)))).direct == 0);
constexpr auto rows = fetches(on<g<0>>(sum(slice<0, 50>(total))), on<g<1>>(sum(slice<50, 100>(total))));
static_assert(plan_of(rows).reduce_scatters == 1 && plan_of(rows).direct == 1);
constexpr auto sent = fetches(on<g<1>>(sum(exp(first))), on<g<2>>(sum(exp(first))), on<g<3>>(sum(exp(first))));
static_assert(plan_of(sent).broadcasts == 1 && plan_of(sent).direct == 1);
// One of four uses it on its CPU: all of it goes by the hosts.
constexpr auto mixed =
    fetches(on<g<1>>(sum(exp(first))), on<g<2>>(sum(exp(first))), on<task<"w", 3, cpu<0>>>(sum(exp(first))));
static_assert(plan_of(mixed).broadcasts == 1 && plan_of(mixed).direct == 0);

// Halves are rounded after each addition, and booleans are not added.
constexpr auto in_half = [](auto... place) {
  const auto added = add_n(on<decltype(place)>(cast<half>(x))...);
  return fetches(on<decltype(place)>(sum(exp(added)))...);
};
static_assert(plan_of(in_half(g<0>{}, g<1>{})).direct == 1 && plan_of(in_half(g<0>{}, g<1>{}, g<2>{})).direct == 0);

// Two GPUs of one task are one process: nothing of it is between tasks.
constexpr auto alone = on<task<"w", 0, gpu<0>>>(tanh(x)) + on<task<"w", 0, gpu<1>>>(exp(x));
static_assert(plan_of(alone).direct == 0);

}  // namespace
