// SPDX-License-Identifier: BSL-1.0
// How long an all-reduce of gradients takes as a step of a program, beside MPI's own calls by hand:
//   mpicxx -std=c++20 -O2 -I include benchmarks/cluster/all_reduce.cpp -o all_reduce && mpirun -n 2 ./all_reduce
#include <onto/cluster.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "times.hpp"

using namespace onto;
using cluster_times::measure;
using cluster_times::times;

namespace {

template <int Size, int... K>
auto sum_over_tasks(std::integer_sequence<int, K...>) {
  static const auto v = variable<"v", float, Size>(1.f);
  return std::pair{add_n(on<task<"worker", K>>(replica(task<"worker", K>{}, v))...),
                   std::tuple{on<task<"worker", K>>(replica(task<"worker", K>{}, v))...}};
}

/// One tensor of `Size` floats from each of so many tasks.
template <int Size, int Tasks>
void compare(session& sess, session& ordered, bool prints) {
  const auto [sum, variables] = sum_over_tasks<Size>(std::make_integer_sequence<int, Tasks>{});
  std::vector<float> from(Size, 1.f), to(Size);
  tensor<float, Size> out;
  const int count = Size > 1'000'000 ? 40 : 200;

  const times blocking =
      measure(count, [&] { MPI_Allreduce(from.data(), to.data(), Size, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  const times tested = measure(count, [&] {
    MPI_Request request;
    MPI_Iallreduce(from.data(), to.data(), Size, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    detail::patience p(60);
    for (int done = 0; !done; p.pause()) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  });
  const auto run = [&](session& s) {
    std::apply([&](const auto&... v) { (s.initialize(v), ...); }, variables);
    auto step = s.prepare(sum).to(out);
    step();
    return measure(count, [&] { step(); });
  };
  const times program = run(sess), in_order = run(ordered);  // the same up to 8 processes
  static const auto nothing = variable<"nothing", float, 1>(0.f);
  const auto empty = on<task<"worker", 0>>(nothing + 1_c);
  sess.initialize(empty);
  const auto step = sess.prepare(empty);
  const times alone = measure(count, [&] { step(); });
  if (!prints) return;
  const auto print = [&](const char* what, const times& t) {
    std::printf("%10d bytes | %-44s | %8.3f | %8.3f\n", 4 * Size, what, 1e3 * t.median, 1e3 * t.least);
  };
  print("MPI_Allreduce", blocking);
  print("MPI_Iallreduce, MPI_Test and sleeps", tested);
  print("a program's step", program);
  print("a program's step, deterministic", in_order);
  print("a step without an all-reduce", alone);
}

}  // namespace

template <int Tasks>
void compare_sizes(int argc, char** argv) {
  server node{argc, argv, {{"worker", Tasks}}};
  session sess{node}, ordered{node, {.deterministic = true}};
  if (node.rank() == 0) std::printf("%d processes | what | median ms | least ms\n", Tasks);
  compare<262'144, Tasks>(sess, ordered, node.rank() == 0);
  compare<2'621'440, Tasks>(sess, ordered, node.rank() == 0);
}

int main(int argc, char** argv) {
  if (argc > 1 && std::atoi(argv[1]) == 4)
    compare_sizes<4>(argc, argv);
  else
    compare_sizes<2>(argc, argv);
}
