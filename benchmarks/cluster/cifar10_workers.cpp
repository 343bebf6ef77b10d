// SPDX-License-Identifier: BSL-1.0
// A step of the CIFAR-10 tutorial's training over processes: two of one thread beside one of two threads. The
// parameters are on the first worker, each worker has its part of the batch.
//   mpicxx -std=c++20 -O3 -march=native -I include benchmarks/cluster/cifar10_workers.cpp -o cifar10_workers -pthread
//   ./cifar10_workers STEPS; mpirun -n 2 ./cifar10_workers STEPS
#include <onto/cluster.hpp>

#include "../../examples/cifar10/model.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace onto;

namespace {

template <class... Worker>
constexpr auto loss_over(Worker...) {
  return on<task<"worker", 0>>(cifar10::loss_of_places<Worker...>());
}

template <class... Worker>
void measure(server& node, int steps, int threads, Worker... workers) {
  session sess{node, {.cpu_threads = threads}};
  const auto update = minimize<sgd{}>(loss_over(workers...));
  sess.initialize(update);
  auto learn = sess.prepare(update * 1_c);
  tensor<float, cifar10::batch, cifar10::input, cifar10::input, 3> images;
  tensor<std::int32_t, cifar10::batch> labels;
  for (std::size_t k = 0; k < images.size(); ++k) images.data()[k] = static_cast<float>(k * 7919 % 256) / 128 - 1;
  for (std::size_t k = 0; k < labels.size(); ++k) labels.data()[k] = static_cast<std::int32_t>(k % 10);
  std::vector<double> seconds;
  float loss = 0;
  for (int k = 0; k < steps + 2; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    loss = learn(cifar10::x = images, cifar10::y = labels);
    if (k >= 2) seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  if (node.rank() == 0)
    std::printf("%d processes of %d threads: least %.1f ms a step, median %.1f; loss %.4f\n", node.size(), threads,
                1e3 * seconds[0], 1e3 * seconds[seconds.size() / 2], loss);
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 10;
  const char* by = "";
  using first = task<"worker", 0>;
  if (detail::launched_processes(by) == 2) {
    server node(argc, argv, {{"worker", 2}});
    measure(node, steps, 1, first{}, task<"worker", 1>{});
  } else {
    server node(argc, argv, {{"worker", 1}});
    measure(node, steps, 2, first{});
  }
}
