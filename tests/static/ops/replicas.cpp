// SPDX-License-Identifier: BSL-1.0
// Data-parallel training: one all-reduce a step, and what else there is.
#include <onto/onto.hpp>

#include <string_view>

using namespace onto;

namespace {

using first = task<"worker", 0>;
using second = task<"worker", 1>;

constexpr auto w = variable<"w", float, 8, 4>(zeros<float, 8, 4>());
constexpr auto b = variable<"b", float, 4>(zeros<float, 4>());

template <int K>
constexpr auto rows() {
  if constexpr (K == 0)
    return placeholder<"rows_0", float, 16, 8>;
  else
    return placeholder<"rows_1", float, 16, 8>;
}
constexpr auto tower = [](auto place) {
  return mean(square(matmul(rows<place.index>(), replica(place, w)) + replica(place, b)));
};
constexpr auto losses = towers(boost::hana::tuple_t<first, second>, tower);

// The gradients of all parameters, and the loss, in one call; nothing else crosses: not the count of steps, not what
// the optimizer keeps, not the norm by which gradients are clipped.
constexpr auto plain = plan_of(minimize<sgd{.rate = 0.1}>(losses));
static_assert(plain.all_reduces == 1 && plain.messages == 0 && plain.transfers == 0);
static_assert(plain.all_reduce_bytes == 4 * (8 * 4 + 4 + 1));
constexpr auto adaptive = plan_of(minimize<adam{}>(clip_by_global_norm(1_c), moving_average(0.9_c), losses));
static_assert(adaptive.all_reduces == 1 && adaptive.messages == 0);

// One tower is trained as a loss is.
constexpr auto alone = plan_of(minimize<sgd{.rate = 0.1}>(towers(boost::hana::tuple_t<first>, tower)));
static_assert(alone.all_reduces == 0 && alone.messages == 0);

// Variables that all share are on one task: gradients go there, and parameters come back.
constexpr auto shared = [](auto place) { return mean(square(matmul(rows<place.index>(), w) + b)); };
constexpr auto served =
    plan_of(minimize<sgd{.rate = 0.1}>(mean(towers(boost::hana::tuple_t<first, second>, shared)), on<first>(w), b));
static_assert(served.messages > 2);

// The first replica is the variable itself.
constexpr std::string_view name_of_replica(auto replica) { return decltype(replica)::name::value; }
static_assert(name_of_replica(replica(first{}, w)) == "w");
static_assert(name_of_replica(replica(second{}, w)) == "w/replica_1");
static_assert(name_of_replica(replica(gpu<12>{}, w)) == "w/replica_12");
static_assert(name_of_replica(replica(task<"worker", 345>{}, w)) == "w/replica_345");

}  // namespace
