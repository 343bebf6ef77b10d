// SPDX-License-Identifier: BSL-1.0
// A parameter server and two workers: the variable is on the server, each worker computes the gradient of its half of
// the data, and their mean makes the step. Start it with mpirun -n 3.
#include <onto/cluster.hpp>

#include <iostream>

using namespace onto;

// [program]
inline constexpr auto x_0 = placeholder<"x_0", float, 4, 2>;  // the shard of worker 0
inline constexpr auto y_0 = placeholder<"y_0", float, 4, 1>;
inline constexpr auto x_1 = placeholder<"x_1", float, 4, 2>;  // and that of worker 1
inline constexpr auto y_1 = placeholder<"y_1", float, 4, 1>;

int main(int argc, char** argv) {
  server node{argc, argv, {{"ps", 1}, {"worker", 2}}};
  session sess{node};

  const auto w = variable<"w", float, 2, 1>(0.f);
  const auto slope = [&](const auto& x, const auto& y) { return matmul(transpose(x), matmul(x, w) - y) * 0.25_c; };
  const auto mine = on<task<"worker", 0>>(slope(x_0, y_0));
  const auto yours = on<task<"worker", 1>>(slope(x_1, y_1));
  const auto step = on<task<"ps", 0>>(assign_sub(w, (mine + yours) * 0.1_c));

  // Every worker reads its shard; what the others give is not looked at.
  tensor<float, 4, 2> x;
  tensor<float, 4, 1> y;
  for (int k = 0; k < 4; ++k) {
    const int n = 4 * (node.job() == "worker" ? node.task_index() : 0) + k;
    x(k, 0) = static_cast<float>(n % 3) - 1;
    x(k, 1) = static_cast<float>(n % 2);
    y(k, 0) = 2 * x(k, 0) - x(k, 1);
  }

  sess.initialize(on<task<"ps", 0>>(w));
  const auto train = sess.prepare(step);
  for (int k = 0; k < 300; ++k) train(x_0 = x, y_0 = y, x_1 = x, y_1 = y);
  const auto learned = sess.run(w * 1_c);  // arrives in every process
  if (node.rank() == 0) std::cout << "w = " << learned << '\n';
}
// [program]
