// SPDX-License-Identifier: BSL-1.0
// Two workers train one model on data of their own: mpirun -n 2 ./data_parallel
#include <onto/cluster.hpp>

#include <cstdio>

namespace hana = boost::hana;
using namespace onto;

// [program]
template <int Worker>
constexpr auto shard() {  // the data of a worker
  if constexpr (Worker == 0)
    return std::pair{placeholder<"x_0", float, 4, 2>, placeholder<"y_0", float, 4, 1>};
  else
    return std::pair{placeholder<"x_1", float, 4, 2>, placeholder<"y_1", float, 4, 1>};
}

constexpr auto loss = [](auto place) {
  const auto w = replica(place, variable<"w", float, 2, 1>(zeros<float, 2, 1>()));  // this worker's own
  const auto b = replica(place, variable<"b", float, 1>(zeros<float, 1>()));
  const auto [x, y] = shard<place.index>();
  return mean(square(matmul(x, w) + b - y));
};
constexpr auto workers = hana::tuple_t<task<"worker", 0>, task<"worker", 1>>;
constexpr auto step = minimize<sgd{.rate = 0.2, .momentum = 0.5}>(towers(workers, loss));

static_assert(plan_of(step).all_reduces == 1);  // of all gradients and the loss
static_assert(plan_of(step).messages == 0);     // and nothing else goes between the workers
// [program]

int main(int argc, char** argv) {
  // [run]
  server node{argc, argv, {{"worker", 2}}};
  session sess{node, {.deterministic = true}};

  // Every worker reads its shard; what it gives for the other's is not looked at.
  tensor<float, 4, 2> x;
  tensor<float, 4, 1> y;
  for (int k = 0; k < 4; ++k) {
    const int n = 4 * node.task_index() + k;
    x(k, 0) = static_cast<float>(n % 3) - 1;
    x(k, 1) = static_cast<float>(n % 2);
    y(k, 0) = 2 * x(k, 0) - x(k, 1) + 0.5f;
  }
  sess.initialize(step);
  const auto train = sess.prepare(step);
  for (int k = 0; k <= 120; ++k) {
    const float mean_loss =
        train(shard<0>().first = x, shard<0>().second = y, shard<1>().first = x, shard<1>().second = y);
    if (k % 60 == 0 && node.rank() == 0) std::printf("step %3d: loss %.4f\n", k, static_cast<double>(mean_loss));
  }
  const auto w = sess.run(variable<"w", float, 2, 1> * 1_c);
  // [run]
  if (node.rank() == 0) std::printf("w = %.2f %.2f\n", static_cast<double>(w(0, 0)), static_cast<double>(w(1, 0)));
}
