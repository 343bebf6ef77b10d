// SPDX-License-Identifier: BSL-1.0
// A step of training over two processes: a perceptron 256-512-10 on 64 rows in each, one thread each, by towers of one
// program and by hand, with a session for each process and MPI_Allreduce between two programs:
//   mpicxx -std=c++20 -O2 -I include benchmarks/cluster/training_step.cpp -o training_step -pthread
//   mpirun -n 2 ./training_step; benchmarks/cluster/training_step.py is the same in torch.distributed
#include <onto/cluster.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace hana = boost::hana;
using namespace onto;

namespace {

constexpr int rows = 64, inputs = 256, hidden = 512, outputs = 10;

template <int Worker>
constexpr auto shard() {  // the data of a worker
  if constexpr (Worker == 0)
    return std::pair{placeholder<"x_0", float, rows, inputs>, placeholder<"y_0", float, rows, outputs>};
  else
    return std::pair{placeholder<"x_1", float, rows, inputs>, placeholder<"y_1", float, rows, outputs>};
}

template <class X, class Y, class A, class B, class C, class D>
constexpr auto loss_of(const X& x, const Y& y, const A& w_1, const B& b_1, const C& w_2, const D& b_2) {
  return mean(square(matmul(relu(matmul(x, w_1) + b_1), w_2) + b_2 - y));
}
constexpr auto w_1 = variable<"w_1", float, inputs, hidden>(glorot_uniform<float, inputs, hidden>(1_c));
constexpr auto b_1 = variable<"b_1", float, hidden>(zeros<float, hidden>());
constexpr auto w_2 = variable<"w_2", float, hidden, outputs>(glorot_uniform<float, hidden, outputs>(2_c));
constexpr auto b_2 = variable<"b_2", float, outputs>(zeros<float, outputs>());

constexpr auto tower = [](auto place) {
  constexpr auto own = shard<place.index>();
  return loss_of(own.first, own.second, replica(place, w_1), replica(place, b_1), replica(place, w_2),
                 replica(place, b_2));
};
constexpr auto workers = hana::tuple_t<task<"worker", 0>, task<"worker", 1>>;
constexpr auto step = minimize<sgd{.rate = 0.01}>(towers(workers, tower));
static_assert(plan_of(step).all_reduces > 0 && plan_of(step).messages == 0);

/// Median and least of 300 steps, in milliseconds, after 30.
template <class F>
void measure(const char* what, bool prints, const F& f) {
  std::vector<double> took;
  float last = 0;
  for (int k = 0; k < 330; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    last = f();
    const std::chrono::duration<double, std::milli> t = std::chrono::steady_clock::now() - begin;
    if (k >= 30) took.push_back(t.count());
  }
  std::sort(took.begin(), took.end());
  if (prints)
    std::printf("%s: %.3f %.3f, loss %.5f\n", what, took[took.size() / 2], took[0], static_cast<double>(last));
}

}  // namespace

int main(int argc, char** argv) {
  server node{argc, argv, {{"worker", 2}}};
  tensor<float, rows, inputs> x;
  tensor<float, rows, outputs> y;
  unsigned k = 17u * static_cast<unsigned>(node.rank() + 1);
  const auto number = [&] { return static_cast<float>((k = k * 1664525u + 1013904223u) >> 8) / 8388608.f - 1; };
  for (float& v : x) v = number();
  for (float& v : y) v = number();
  {
    session sess{node, {.cpu_threads = 1}};
    sess.initialize(step);
    const auto train = sess.prepare(step);
    measure("onto, towers", node.rank() == 0, [&] {
      return static_cast<float>(
          train(shard<0>().first = x, shard<0>().second = y, shard<1>().first = x, shard<1>().second = y));
    });
  }
  session alone{{.cpu_threads = 1}};
  constexpr auto loss = loss_of(shard<0>().first, shard<0>().second, w_1, b_1, w_2, b_2);
  constexpr auto by = gradients(loss, w_1, b_1, w_2, b_2);
  constexpr auto backward = fetches(loss, std::get<0>(by), std::get<1>(by), std::get<2>(by), std::get<3>(by));
  constexpr auto g_1 = placeholder<"g_1", float, inputs, hidden>;
  constexpr auto h_1 = placeholder<"h_1", float, hidden>;
  constexpr auto g_2 = placeholder<"g_2", float, hidden, outputs>;
  constexpr auto h_2 = placeholder<"h_2", float, outputs>;
  constexpr auto rate = 0.005_c;  // of the mean of two
  constexpr auto update = fetches(slice<0, 1>(assign_sub(w_1, g_1 * rate)), slice<0, 1>(assign_sub(b_1, h_1 * rate)),
                                  slice<0, 1>(assign_sub(w_2, g_2 * rate)), slice<0, 1>(assign_sub(b_2, h_2 * rate)));
  alone.initialize(loss);
  const auto differentiate = alone.prepare(backward);
  const auto learn = alone.prepare(update);
  measure("onto alone and MPI_Allreduce", node.rank() == 0, [&] {
    auto [value, a, b, c, d] = differentiate(shard<0>().first = x, shard<0>().second = y);
    const auto add = [](float* data, std::size_t count) {
      MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    };
    add(a.data(), a.size());
    add(b.data(), b.size());
    add(c.data(), c.size());
    add(d.data(), d.size());
    learn(g_1 = a, h_1 = b, g_2 = c, h_2 = d);
    return static_cast<float>(value);
  });
}
