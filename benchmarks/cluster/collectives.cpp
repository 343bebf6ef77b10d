// SPDX-License-Identifier: BSL-1.0
// How long broadcasts, all-gathers and reduce-scatters take as steps of programs, beside MPI's own calls by hand, a
// message to each, and what the same programs would be without them:
//   mpicxx -std=c++20 -O2 -I include benchmarks/cluster/collectives.cpp -o collectives && mpirun -n 4 ./collectives 4
#include <onto/cluster.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "times.hpp"

using namespace onto;
using cluster_times::measure;
using cluster_times::times;

namespace {

/// Tests some requests until they are done, as the programs do.
void finish(std::vector<MPI_Request>& requests) {
  detail::patience p(60);
  for (int done = 0; !done; p.pause())
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
}

template <int K>
using worker = task<"worker", K>;

/// Variables of `Size` floats, one on each task.
template <int Size, int K>
const auto& own() {
  static const auto v = on<worker<K>>(replica(worker<K>{}, variable<"v", float, Size>(1.f)));
  return v;
}

template <int Size, int... K>
void compare(session& sess, bool prints, std::integer_sequence<int, K...>) {
  constexpr int tasks = sizeof...(K), part = Size / tasks;
  const int count = Size > 1'000'000 ? 20 : 100, rank = [] {
    int r = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    return r;
  }();
  std::vector<float> from(Size, 1.f), to(Size);
  const auto print = [&](const char* what, const times& t) {
    if (prints) std::printf("%10d bytes | %-44s | %8.3f | %8.3f\n", 4 * Size, what, 1e3 * t.median, 1e3 * t.least);
  };
  const auto tested = [&](const char* what, const auto& start) {
    print(what, measure(count, [&] {
            std::vector<MPI_Request> r;
            start(r);
            finish(r);
          }));
  };
  const auto step = [&](const char* what, const auto& e) {
    (sess.initialize(own<Size, K>()), ...);
    (sess.initialize(own<part, K>()), ...);
    const auto go = sess.prepare(e);
    go();
    print(what, measure(count, [&] { go(); }));
  };

  print("MPI_Bcast", measure(count, [&] { MPI_Bcast(to.data(), Size, MPI_FLOAT, 0, MPI_COMM_WORLD); }));
  tested("MPI_Ibcast, tested", [&](auto& r) {
    r.resize(1);
    MPI_Ibcast(to.data(), Size, MPI_FLOAT, 0, MPI_COMM_WORLD, r.data());
  });
  tested("a message to each, tested", [&](auto& r) {
    r.resize(rank == 0 ? tasks - 1 : 1);
    if (rank > 0) MPI_Irecv(to.data(), Size, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, r.data());
    for (int k = 1; rank == 0 && k < tasks; ++k)
      MPI_Isend(to.data(), Size, MPI_FLOAT, k, 1, MPI_COMM_WORLD, &r[static_cast<std::size_t>(k - 1)]);
  });
  const auto& sent = own<Size, 0>();
  step("a program's broadcast", fetches(on<worker<K>>(sum(sent * 2_c))...));

  print("MPI_Allgather", measure(count, [&] {
          MPI_Allgather(from.data(), part, MPI_FLOAT, to.data(), part, MPI_FLOAT, MPI_COMM_WORLD);
        }));
  tested("MPI_Iallgather, tested", [&](auto& r) {
    r.resize(1);
    MPI_Iallgather(from.data(), part, MPI_FLOAT, to.data(), part, MPI_FLOAT, MPI_COMM_WORLD, r.data());
  });
  const auto all = concat<0>(own<part, K>()...);
  step("a program's all-gather", fetches(on<worker<K>>(sum(all))...));
  step("the same on the first task, and sent to all", fetches(on<worker<K>>(sum(on<worker<0>>(all + 0.f)))...));

  print("MPI_Reduce_scatter_block", measure(count, [&] {
          MPI_Reduce_scatter_block(from.data(), to.data(), part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        }));
  tested("MPI_Ireduce_scatter_block, tested", [&](auto& r) {
    r.resize(1);
    MPI_Ireduce_scatter_block(from.data(), to.data(), part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, r.data());
  });
  const auto total = add_n(own<Size, K>()...);
  step("a program's reduce-scatter", fetches(on<worker<K>>(sum(slice<K * part, (K + 1) * part>(total)))...));
  step("the same with an all-reduce", fetches(on<worker<K>>(sum(total))...));
}

template <int Tasks>
void compare_sizes(int argc, char** argv) {
  server node{argc, argv, {{"worker", Tasks}}};
  session sess{node};
  if (node.rank() == 0) std::printf("%d processes | what | median ms | least ms\n", Tasks);
  constexpr std::make_integer_sequence<int, Tasks> tasks{};
  compare<1'024>(sess, node.rank() == 0, tasks);
  compare<262'144>(sess, node.rank() == 0, tasks);
  compare<2'621'440>(sess, node.rank() == 0, tasks);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::atoi(argv[1]) == 7)
    compare_sizes<7>(argc, argv);
  else if (argc > 1 && std::atoi(argv[1]) == 4)
    compare_sizes<4>(argc, argv);
  else
    compare_sizes<2>(argc, argv);
}
