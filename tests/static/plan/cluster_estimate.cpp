// SPDX-License-Identifier: BSL-1.0
// The time a plan over several tasks takes: a specification, each line of it proven by the compiler. Laws over random
// placements are in tests/unit/cluster/estimate_laws.hpp.
#include <onto/cluster_model.hpp>
#include <onto/ops/all.hpp>

#include <iterator>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 100, 100>;  // 40000 bytes
constexpr auto y = placeholder<"y", float, 100, 100>;
constexpr auto z = placeholder<"z", float, 100, 100>;

// Seconds that are easy to add up: a product takes 2 on a GPU and on a host, a copy between them 4, a message of a
// matrix 5 between nodes and 2 inside one.
constexpr cost_model machine{.flops = 1e6, .host_bandwidth = 10000, .host_flops = 1e6};
constexpr cluster_model apart{.device = machine, .network_bandwidth = 10000, .network_latency = 1};
constexpr cluster_model pairs{.device = machine,
                              .tasks_per_node = 2,
                              .node_bandwidth = 40000,
                              .node_latency = 1,
                              .network_bandwidth = 10000,
                              .network_latency = 1};
constexpr cluster_model pairs_direct{.device = machine,
                                     .tasks_per_node = 2,
                                     .node_bandwidth = 40000,
                                     .node_latency = 1,
                                     .network_bandwidth = 10000,
                                     .network_latency = 1,
                                     .direct = true};

constexpr bool equal(double a, double b) { return (a > b ? a - b : b - a) <= 1e-12 * b; }

/// Without the processes' coming together before and after.
template <class Plan>
constexpr double seconds(const Plan& p, const cluster_model& model, int towers = 0) {
  const int tasks = towers > 0 ? towers : detail::task_count(p.devices, static_cast<int>(std::size(p.devices)));
  return estimate(p, model, towers).seconds - 2 * model.agreement(tasks);
}

// ---- messages ---------------------------------------------------------------------------------------------

template <int K>
using w = task<"w", K>;

constexpr auto first = on<w<0>>(matmul(x, y));
constexpr auto hop = on<w<1>>(matmul(first, first));
static_assert(plan_of(hop).messages == 1);
static_assert(equal(seconds(plan_of(hop), apart), 2 + 5 + 2));
static_assert(equal(seconds(plan_of(hop), pairs), 2 + 2 + 2));

// Tasks are on nodes in the order of their numbers, whatever order the program names them in: the third one is on
// another.
constexpr auto far_hop = on<w<2>>(matmul(first, first));
constexpr auto with_second = fetches(far_hop, on<w<1>>(matmul(z, z)));
static_assert(equal(seconds(plan_of(with_second), pairs), 2 + 5 + 2));

// A task sends one message at a time; the first of the two is used while the second is under way.
constexpr auto two_hops = fetches(hop, on<w<2>>(matmul(first, y)));
static_assert(plan_of(two_hops).messages >= 2);
static_assert(seconds(plan_of(two_hops), apart) >= 2 + 5 + 5 + 2);

// Between GPUs of two tasks a value goes through both hosts, or straight.
constexpr auto first_on_gpu = on<task<"w", 0, gpu<0>>>(matmul(x, x));
constexpr auto on_gpus = on<task<"w", 1, gpu<0>>>(matmul(first_on_gpu, first_on_gpu));
static_assert(plan_of(on_gpus).transfers == 5 && plan_of(on_gpus).messages == 1);
static_assert(equal(seconds(plan_of(on_gpus), pairs), 4 + 2 + 4 + 2 + 4 + 2 + 4));
static_assert(equal(seconds(plan_of(on_gpus), pairs_direct), 4 + 2 + 2 + 2 + 4));

// Processes come together before a run and after it.
constexpr cluster_model noted{.network_latency = 1, .note = 0.25};
static_assert(equal(noted.agreement(5), 2 + 2) && noted.agreement(1) == 0);
static_assert(equal(noted.agreement(9), 4 + 4) && equal(noted.agreement(1024), 2 * (4 + (7 + 7 + 7 + 1) * 0.25)));
// A core that copies what comes and what goes does one after the other.
constexpr cluster_model by_cores{.tasks_per_node = 8, .node_bandwidth = 100, .host_moves = true};
constexpr cluster_model by_links{.tasks_per_node = 8, .node_bandwidth = 100};
static_assert(equal(by_cores.all_reduce(1 << 20, 2), 2 * by_links.all_reduce(1 << 20, 2)));
static_assert(equal(by_cores.message(1 << 20, true), by_links.message(1 << 20, true)));
// Eight tasks of a node agree among themselves first.
constexpr cluster_model in_nodes{.tasks_per_node = 8, .node_latency = 1, .network_latency = 10};
static_assert(equal(in_nodes.agreement(8), 2) && equal(in_nodes.agreement(9), 22) && equal(in_nodes.agreement(64), 22));
static_assert(equal(in_nodes.agreement(65), 42));
static_assert(equal(estimate(plan_of(hop), noted).seconds, 2 * (2 + 0.5) + 1));

// ---- sums -------------------------------------------------------------------------------------------------

constexpr auto sum_of_two = on<w<0>>(matmul(x, x)) + on<w<1>>(matmul(y, y));
static_assert(plan_of(sum_of_two).all_reduces == 1 && plan_of(sum_of_two).messages == 0);
// Two rounds with half of the matrix each.
static_assert(equal(seconds(plan_of(sum_of_two), apart), 2 + 2 * (1 + 2)));
static_assert(equal(seconds(plan_of(sum_of_two), pairs), 2 + 2 * (1 + 0.5)));
// The plan of two stands for more: then it is what the model says of so many.
static_assert(equal(seconds(plan_of(sum_of_two), apart, 64), 2 + apart.all_reduce(40000, 64)));
static_assert(apart.all_reduce(40000, 1) == 0);

// A small one: all to all at once.
static_assert(equal(apart.all_reduce(10000, 4), 1 + 3));
// Four tasks in two nodes use both links of each at once.
static_assert(equal(pairs.all_reduce(40000, 4), 2 * (1 + 2)));
// Sixteen tasks in nodes of two: two rounds of half of it inside, and between the eight nodes three rounds each way.
static_assert(equal(pairs.all_reduce(40000, 16), 2 * (1 + 0.5) + 2 * (3 + 2.0 * 7 / 8)));
// One node of sixteen, and sixteen nodes.
static_assert(equal(cluster_model{.tasks_per_node = 16, .node_bandwidth = 10000}.all_reduce(40000, 16), 2 * 15 * 0.25));
static_assert(equal(apart.all_reduce(40000, 16), 2 * (4 + 4.0 * 15 / 16)));
// What is added is read, and its sum written, at the memory's rate.
static_assert(equal(cluster_model{.device = {.host_memory_bandwidth = 40000}}.all_reduce(40000, 2), 1.5));

// ---- one task ---------------------------------------------------------------------------------------------

constexpr auto alone = on<gpu<0>>(matmul(on<cpu<0>>(matmul(x, y)), y));
constexpr auto alone_in_a_task = on<task<"w", 0, gpu<0>>>(matmul(on<task<"w", 0, cpu<0>>>(matmul(x, y)), y));
static_assert(seconds(plan_of(alone), apart) == estimate(plan_of(alone), machine).seconds);
static_assert(seconds(plan_of(alone_in_a_task), noted) == estimate(plan_of(alone), noted.device).seconds);
static_assert(seconds(plan_of(alone_in_a_task), apart) == estimate(plan_of(alone), machine).seconds);

// What messages take is in the time of the CPU whose they are.
static_assert(equal(estimate(plan_of(hop), apart).at(task<"w", 1, gpu<0>>{}).copying, 0));
static_assert(equal(estimate(plan_of(hop), apart).at(task<"w", 1, cpu<0>>{}).copying, 5));
static_assert(equal(estimate(plan_of(hop), apart).at(task<"w", 1, cpu<0>>{}).busy, 2));

static_assert(gigabits(400) == 50e9);

}  // namespace
