// SPDX-License-Identifier: BSL-1.0
// What `estimate` says of programs over two processes, beside what they take: the machine is described by what
// products, maps and a ping-pong of MPI's take on it, measured here, before any of the programs has run.
//   mpicxx -std=c++20 -O2 -march=native -I include benchmarks/cluster/estimate.cpp -o estimate -pthread
//   mpirun -n 2 ./estimate
// Twice: by what things take at the least, beside what programs take at the least, which hangs little on what else the
// machine does; and by medians. For these, things are measured over as long as a step of training takes, many of them
// at once: on a busy machine few things of 0.1 ms are interrupted, and every step of 10 ms is.
#include <onto/cluster.hpp>
#include <onto/cluster_model.hpp>

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "times.hpp"

namespace hana = boost::hana;
using namespace onto;
using cluster_times::measure;
using cluster_times::times;

namespace {

constexpr int warm = 3;  // runs that are not counted

// ---- the machine ------------------------------------------------------------------------------------------

/// As a session waits: looks, and sleeps between two looks.
void wait(MPI_Request& request) {
  detail::patience p(60);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;) p.pause();
}

/// Seconds of `f`, as one of so many that take `window` seconds together.
template <class F>
double seconds_of(double window, double times::*kind, const F& f) {
  double one = measure(20, f, warm).*kind;
  MPI_Bcast(&one, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int together = std::max(1, static_cast<int>(window / one));
  const auto several = [&] {
    for (int k = 0; k < together; ++k) f();
  };
  return measure(together > 1 ? 50 : 200, several, warm).*kind / together;
}

/// One way of a ping-pong.
double one_way(int rank, int bytes, double window, double times::*kind) {
  std::vector<char> data(static_cast<std::size_t>(bytes));
  const auto send = [&] {
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Isend(data.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &r);
    wait(r);
  };
  const auto receive = [&] {
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Irecv(data.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &r);
    wait(r);
  };
  return seconds_of(window, kind,
                    [&] {
                      if (rank == 0) send();
                      receive();
                      if (rank == 1) send();
                    }) /
         2;
}

/// Both processes compute at once, as they do in a step.
cluster_model describe(server& node, session& sess, double window, double times::*kind) {
  constexpr auto a = placeholder<"a", float, 128, 512>;
  constexpr auto b = placeholder<"b", float, 512, 512>;
  constexpr auto u = placeholder<"u", float, 262144>;
  constexpr auto v = placeholder<"v", float, 262144>;
  tensor<float, 128, 512> A, C;
  tensor<float, 512, 512> B;
  tensor<float, 262144> U, V, W;
  session own{{.cpu_threads = 1}};
  auto product = own.prepare(matmul(a, b)).to(C);
  auto map = own.prepare(u * 0.5_c + v).to(W);
  cluster_model m;
  m.device.host_flops = 2. * 128 * 512 * 512 / seconds_of(window, kind, [&] { product(a = A, b = B); });
  m.device.host_memory_bandwidth = 3. * 4 * 262144 / seconds_of(window, kind, [&] { map(u = U, v = V); });
  m.tasks_per_node = 2;
  m.node_latency = one_way(node.rank(), 8, window, kind);
  m.node_bandwidth = (1 << 22) / (one_way(node.rank(), 1 << 22, window, kind) - m.node_latency);
  // A run of nothing is two agreements.
  static const auto nothing = variable<"nothing", float, 1>(0.f);
  const auto empty = on<task<"worker", 0>>(nothing + 1_c);
  sess.initialize(empty);
  const auto step = sess.prepare(empty);
  m.note = std::max(0., (measure(
                             200, [&] { step(); }, warm).*
                                 kind /
                             2 -
                         2 * m.node_latency) /
                            2);
  m.host_moves = true;
  MPI_Bcast(&m, sizeof m, MPI_BYTE, 0, MPI_COMM_WORLD);
  return m;
}

// ---- the programs -----------------------------------------------------------------------------------------

template <int K>
using worker = task<"worker", K>;

template <int Size>
constexpr auto value_of = variable<"v", float, Size>(fill<float, Size>(1_c));
template <int Size>
constexpr auto sum_of = on<worker<0>>(replica(worker<0>{}, value_of<Size>)) + on<worker<1>>(replica(worker<1>{},
                                                                                                    value_of<Size>));
template <int Size>
constexpr auto sent = on<worker<1>>(sum(on<worker<0>>(value_of<Size>)));

template <int Tower>
constexpr auto data() {
  if constexpr (Tower == 0)
    return std::pair{placeholder<"x_0", float, 128, 512>, placeholder<"y_0", float, 128, 512>};
  else
    return std::pair{placeholder<"x_1", float, 128, 512>, placeholder<"y_1", float, 128, 512>};
}
template <fixed_string Name>
constexpr auto layer(auto place) {
  return replica(place, variable<Name, float, 512, 512>(truncated_normal<float, 512, 512>(0.04_c, 1_c)));
}
constexpr auto loss = [](auto place) {
  const auto [x, y] = data<place.index>();
  const auto inside = relu(matmul(relu(matmul(x, layer<"w1">(place))), layer<"w2">(place)));
  return mean(square(matmul(inside, layer<"w3">(place)) - y));
};
constexpr auto training = minimize<sgd{.rate = 0.1}>(towers(hana::tuple_t<worker<0>, worker<1>>, loss));

/// Seconds that this process has computed, or looked for messages.
double computed() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void print(const cluster_model& m) {
  std::printf("products %.1f GFLOP/s, maps %.1f GB/s, messages %.2f us and %.2f GB/s, notes %.2f us\n",
              1e-9 * m.device.host_flops, 1e-9 * m.device.host_memory_bandwidth, 1e6 * m.node_latency,
              1e-9 * m.node_bandwidth, 1e6 * m.note);
}

}  // namespace

int main(int argc, char** argv) {
  server node{argc, argv, {{"worker", 2}}};
  session sess{node, {.cpu_threads = 1}};
  const cluster_model quick = describe(node, sess, 0, &times::least);
  const cluster_model usual = describe(node, sess, 0.01, &times::median);
  const bool prints = node.rank() == 0;
  if (prints) {
    print(quick);
    print(usual);
    std::printf(
        "\n| | least, ms | estimate, ms | ratio | on a core, ms | median, ms | estimate, ms | ratio |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|\n");
  }
  const auto compare = [&](const char* what, int count, const auto& program, const auto&... feeds) {
    sess.initialize(program);
    const auto step = sess.prepare(program);
    double busy = 0;
    const auto one = [&] {
      const double before = computed();
      step(feeds...);
      busy += computed() - before;
    };
    const times t = measure(count, one, warm);
    const double least = estimate(plan_of(program), quick).seconds, median = estimate(plan_of(program), usual).seconds;
    if (prints)
      std::printf("| %s | %.3f | %.3f | %.2f | %.3f | %.3f | %.3f | %.2f |\n", what, 1e3 * t.least, 1e3 * least,
                  t.least / least, 1e3 * busy / (count + warm), 1e3 * t.median, 1e3 * median, t.median / median);
  };
  compare("a message of 1 MiB, and its sum", 200, sent<262144>);
  compare("a message of 10 MiB, and its sum", 50, sent<2621440>);
  compare("an all-reduce of 1 MiB", 200, sum_of<262144>);
  compare("an all-reduce of 10 MiB", 50, sum_of<2621440>);
  tensor<float, 128, 512> x, y;
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<float>(k % 100) / 100;
  compare("a step of training, data parallel", 100, training, data<0>().first = x, data<0>().second = y,
          data<1>().first = x, data<1>().second = y);
}
