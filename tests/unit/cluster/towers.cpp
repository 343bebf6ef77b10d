// SPDX-License-Identifier: BSL-1.0
// A plan of two towers stands for one of more: `estimate` with a number of towers is that of a plan with as many.
#include <onto/backend/cluster/all_reduction.hpp>
#include <onto/cluster_model.hpp>
#include <onto/onto.hpp>

#include "../catch.hpp"
#include "estimate_laws.hpp"

using namespace onto;
namespace hana = boost::hana;

namespace {

// What the model says of all-reduces by messages is what the backend does.
static_assert(cluster_model::most_by_messages == detail::all_reduction::most_by_messages);
static_assert(cluster_model::small == detail::all_reduction::small);

template <int Tower>
constexpr auto data() {
  if constexpr (Tower == 0)
    return placeholder<"x_0", float, 8, 700>;
  else if constexpr (Tower == 1)
    return placeholder<"x_1", float, 8, 700>;
  else if constexpr (Tower == 2)
    return placeholder<"x_2", float, 8, 700>;
  else
    return placeholder<"x_3", float, 8, 700>;
}
/// Some all-reduces: the gradient of `w` is 1.96 MB, the others are in buckets.
constexpr auto loss = [](auto place) {
  const auto w = replica(place, variable<"w", float, 700, 700>(zeros<float, 700, 700>()));
  const auto v = replica(place, variable<"v", float, 700, 3>(zeros<float, 700, 3>()));
  return mean(square(matmul(tanh(matmul(data<place.index>(), w)), v)));
};

template <int... K>
constexpr auto on_hosts(std::integer_sequence<int, K...>) {
  return minimize<sgd{.rate = 0.1, .momentum = 0.5}>(towers(hana::tuple_t<task<"worker", K>...>, loss));
}
template <int... K>
constexpr auto on_gpus(std::integer_sequence<int, K...>) {
  return minimize<sgd{.rate = 0.1, .momentum = 0.5}>(towers(hana::tuple_t<task<"worker", K, gpu<0>>...>, loss));
}
template <int Towers>
using numbers = std::make_integer_sequence<int, Towers>;

template <class Two, class Plan>
void compare(const Two& two, const Plan& p, int towers) {
  std::mt19937 random(static_cast<unsigned>(towers));
  for (int k = 0; k < 20; ++k) {
    const cluster_model m = onto_test::random_model(random);
    CHECK(estimate(two, m, towers).seconds == Approx(estimate(p, m).seconds).epsilon(1e-12));
  }
  for (const cluster_model& m : {h200_nodes, h200_nodes_through_hosts})
    CHECK(estimate(two, m, towers).seconds == Approx(estimate(p, m).seconds).epsilon(1e-12));
}

}  // namespace

TEST_CASE("two towers stand for more", "[cluster]") {
  const auto& hosts = plan_of(on_hosts(numbers<2>{}));
  const auto& gpus = plan_of(on_gpus(numbers<2>{}));
  REQUIRE(hosts.all_reduces > 1);
  REQUIRE(gpus.messages == 0);
  compare(hosts, plan_of(on_hosts(numbers<4>{})), 4);
  compare(gpus, plan_of(on_gpus(numbers<3>{})), 3);
}

TEST_CASE("an all-reduce beside kernels takes no longer than one after the other", "[cluster]") {
  const auto& p = plan_of(on_gpus(numbers<2>{}));
  cluster_model still = h200_nodes;
  still.network_bandwidth = still.node_bandwidth = still.network_latency = still.node_latency = still.note = 0;
  double before = estimate(p, still, 2).seconds;
  CHECK(before > 0);
  for (const int towers : {2, 8, 16, 64, 1024}) {
    const double seconds = estimate(p, h200_nodes, towers).seconds;
    const double alone = h200_nodes.all_reduce(4 * 700 * 700, towers) +
                         (p.all_reduces - 1) * h200_nodes.all_reduce(4 * 2200, towers) +
                         2 * h200_nodes.agreement(towers);
    CHECK(seconds <= estimate(p, still, 2).seconds + 1.2 * alone);
    CHECK(seconds >= before);  // more towers have more to exchange
    before = seconds;
  }
}

TEST_CASE("clusters that cannot be estimated are refused with their reason", "[cluster]") {
  const auto& p = plan_of(on_hosts(numbers<2>{}));
  CHECK_THROWS_WITH(estimate(p, h200),
                    "[onto.estimate] the plan is over tasks of a cluster, and a cost_model has no links between them; "
                    "include <onto/cluster_model.hpp> and estimate it with a cluster_model");
  CHECK_THROWS_WITH(estimate(p, cluster_model{.tasks_per_node = 0}),
                    "[onto.estimate] tasks_per_node of a cluster_model is 1 or more");
  CHECK_THROWS_WITH(estimate(p, h200_nodes, 1), Catch::Contains("towers are fewer than the tasks of the plan"));
}
