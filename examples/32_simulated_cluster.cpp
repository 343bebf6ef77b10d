// SPDX-License-Identifier: BSL-1.0
// Programs for several processes in one, where each task is a thread: no MPI, and no mpirun.
// WITHOUT: nvcc
#include <onto/simulated_cluster.hpp>

#include <cstdio>
#include <iostream>
#include <utility>

namespace hana = boost::hana;
using namespace onto;

// [hello]
void hello() {
  const auto first = on<task<"local", 0>>(constant("Hello from server1!"));
  const auto second = on<task<"local", 1>>(constant("Hello from server2!"));

  session sess{{.log_device_placement = true, .log = &std::cout, .simulated_tasks = {{"local", 2}}}};
  const auto [a, b] = sess.run(fetches(first, second));  // all results arrive here
  std::cout << a << '\n' << b << '\n';
}
// [hello]

// What each worker reads. In one process all of them are given at once.
template <int Worker>
constexpr auto shard() {
  if constexpr (Worker == 0)
    return std::pair{placeholder<"x_0", float, 4, 2>, placeholder<"y_0", float, 4, 1>};
  else
    return std::pair{placeholder<"x_1", float, 4, 2>, placeholder<"y_1", float, 4, 1>};
}
struct data {
  explicit data(int worker) {
    for (int k = 0; k < 4; ++k) {
      const int n = 4 * worker + k;
      x(k, 0) = static_cast<float>(n % 3) - 1;
      x(k, 1) = static_cast<float>(n % 2);
      y(k, 0) = 2 * x(k, 0) - x(k, 1) + 0.5f;
    }
  }
  tensor<float, 4, 2> x;
  tensor<float, 4, 1> y;
};

// A parameter server: the variables are there, and each worker computes the gradient of its half of the data.
template <class Place, class W, class B>
auto loss_of(Place, const W& w, const B& b) {
  const auto [x, y] = shard<Place::index>();
  return mean(square(matmul(x, w) + b - y));
}
auto on_a_server() {
  const auto w = on<task<"ps", 0>>(variable<"w", float, 2, 1>(zeros<float, 2, 1>()));
  const auto b = on<task<"ps", 0>>(variable<"b", float, 1>(zeros<float, 1>()));
  const auto losses =
      towers(hana::tuple_t<task<"worker", 0>, task<"worker", 1>>, [=](auto place) { return loss_of(place, w, b); });
  return minimize<sgd{.rate = 0.2, .momentum = 0.5}>(mean(losses));
}

// Data-parallel: each worker has variables of its own, and one all-reduce keeps them the same.
auto on_each_worker() {
  return minimize<sgd{.rate = 0.2, .momentum = 0.5}>(
      towers(hana::tuple_t<task<"worker", 0>, task<"worker", 1>>, [](auto place) {
        return loss_of(place, replica(place, variable<"w", float, 2, 1>(zeros<float, 2, 1>())),
                       replica(place, variable<"b", float, 1>(zeros<float, 1>())));
      }));
}

template <class Step>
void train(session& sess, const Step& step, const char* layout) {
  sess.initialize(step);
  const auto repeat = sess.prepare(step);
  const data one(0), other(1);
  float loss = 0;
  for (int k = 0; k < 100; ++k)
    loss = repeat(shard<0>().first = one.x, shard<0>().second = one.y, shard<1>().first = other.x,
                  shard<1>().second = other.y);
  const auto w = sess.run(variable<"w", float, 2, 1> * 1_c);
  std::printf("%s: loss %.4f, w = %.2f %.2f\n", layout, static_cast<double>(loss), static_cast<double>(w(0, 0)),
              static_cast<double>(w(1, 0)));
}

int main() {
  hello();
  {
    session sess{{.simulated_tasks = {{"ps", 1}, {"worker", 2}}}};
    train(sess, on_a_server(), "a parameter server");
  }
  {
    session sess{{.simulated_tasks = {{"worker", 2}}}};
    train(sess, on_each_worker(), "data-parallel");
  }
}
