// SPDX-License-Identifier: BSL-1.0
// A step of the CIFAR-10 tutorial's training over processes: two of one thread beside one of two threads. Each worker
// has all parameters and its part of the batch, and gradients are all-reduced.
//   mpicxx -std=c++20 -O3 -march=native -I include benchmarks/cluster/cifar10_workers.cpp -o cifar10_workers -pthread
//   for k in 1 2 3 4 5 6 7 8; do ./cifar10_workers 20; mpirun -n 2 ./cifar10_workers 20; done
// "On a core" is what all processes compute and look for messages: it does not hang on what else the machine does.
#include <onto/cluster.hpp>

#include "../../examples/cifar10/model.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

using namespace onto;

namespace {

template <int Workers>
struct part {
  template <int K>
  static constexpr auto images() {
    constexpr char name[] = {'x', '_', '0' + K, '\0'};
    return placeholder<fixed_string(name), float, cifar10::batch / Workers, cifar10::input, cifar10::input, 3>;
  }
  template <int K>
  static constexpr auto labels() {
    constexpr char name[] = {'y', '_', '0' + K, '\0'};
    return placeholder<fixed_string(name), std::int32_t, cifar10::batch / Workers>;
  }
};

/// Seconds that a process has computed, or looked for messages.
double computed() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <int... K>
void measure(server& node, int steps, int threads, std::integer_sequence<int, K...>) {
  constexpr int workers = static_cast<int>(sizeof...(K));
  using mine = part<workers>;
  session sess{node, {.cpu_threads = threads}};
  const auto update = cifar10::step_of_workers<mine>(boost::hana::tuple_t<task<"worker", K>...>);
  sess.initialize(update);
  auto learn = sess.prepare(update);
  tensor<float, cifar10::batch / workers, cifar10::input, cifar10::input, 3> images;
  tensor<std::int32_t, cifar10::batch / workers> labels;
  // Each worker's part of one batch.
  const std::size_t before = static_cast<std::size_t>(node.rank()) * labels.size();
  const std::size_t values = images.size() / labels.size();
  for (std::size_t k = 0; k < images.size(); ++k)
    images.data()[k] = static_cast<float>((before * values + k) * 7919 % 256) / 128 - 1;
  for (std::size_t k = 0; k < labels.size(); ++k) labels.data()[k] = static_cast<std::int32_t>((before + k) % 10);
  std::vector<double> seconds;
  float loss = 0;
  double busy = 0;
  for (int k = 0; k < steps + 2; ++k) {
    if (k == 2) busy = -computed();
    const auto begin = std::chrono::steady_clock::now();
    loss = learn((mine::template images<K>() = images)..., (mine::template labels<K>() = labels)...);
    if (k >= 2) seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  busy += computed();
  double all = busy;
  if (node.size() > 1) MPI_Reduce(&busy, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  std::sort(seconds.begin(), seconds.end());
  if (node.rank() == 0)
    std::printf("%d processes of %d threads: least %.1f ms a step, median %.1f, on a core %.1f; loss %.4f\n",
                node.size(), threads, 1e3 * seconds[0], 1e3 * seconds[seconds.size() / 2], 1e3 * all / steps,
                static_cast<double>(loss));
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 10;
  const char* by = "";
  if (detail::launched_processes(by) == 2) {
    server node(argc, argv, {{"worker", 2}});
    measure(node, steps, 1, std::integer_sequence<int, 0, 1>{});
  } else {
    server node(argc, argv, {{"worker", 1}});
    measure(node, steps, 2, std::integer_sequence<int, 0>{});
  }
}
