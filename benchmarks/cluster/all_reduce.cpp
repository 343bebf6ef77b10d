// SPDX-License-Identifier: BSL-1.0
// How long an all-reduce of gradients takes as a step of a program, beside MPI's own calls by hand:
//   mpicxx -std=c++20 -O2 -I include benchmarks/cluster/all_reduce.cpp -o all_reduce && mpirun -n 2 ./all_reduce
#include <onto/cluster.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

using namespace onto;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Median and fastest of so many times, in milliseconds; all processes begin together.
struct times {
  double median = 0, least = 0;
};
template <class F>
times measure(int count, const F& f) {
  std::vector<double> took;
  for (int k = 0; k < count; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now();
    f();
    took.push_back(1e3 * (now() - begin));
  }
  std::sort(took.begin(), took.end());
  return {took[took.size() / 2], took[0]};
}

/// One tensor of `Size` floats from each of two tasks.
template <int Size>
void compare(session& sess, session& ordered, bool prints) {
  using first = task<"worker", 0>;
  using second = task<"worker", 1>;
  static const auto mine = variable<"mine", float, Size>(1.f);
  static const auto yours = variable<"yours", float, Size>(2.f);
  const auto sum = on<first>(mine) + on<second>(yours);
  std::vector<float> from(Size, 1.f), to(Size);
  tensor<float, Size> out;
  const int count = Size > 1'000'000 ? 60 : 200;

  const times blocking = measure(
      count, [&] { MPI_Allreduce(from.data(), to.data(), Size, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  const times tested = measure(count, [&] {
    MPI_Request request;
    MPI_Iallreduce(from.data(), to.data(), Size, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    detail::patience p(60);
    for (int done = 0; !done; p.pause()) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  });
  const auto run = [&](session& s) {
    s.initialize(on<first>(mine));
    s.initialize(on<second>(yours));
    auto step = s.prepare(sum).to(out);
    step();
    return measure(count, [&] { step(); });
  };
  const times program = run(sess), in_order = run(ordered);
  static const auto nothing = variable<"nothing", float, 1>(0.f);
  const auto empty = on<first>(nothing + 1_c);
  sess.initialize(on<first>(nothing));
  const auto step = sess.prepare(empty);
  const times alone = measure(count, [&] { step(); });
  if (!prints) return;
  const auto print = [&](const char* what, const times& t) {
    std::printf("%10d bytes | %-44s | %8.3f | %8.3f\n", 4 * Size, what, t.median, t.least);
  };
  print("MPI_Allreduce", blocking);
  print("MPI_Iallreduce, MPI_Test and sleeps", tested);
  print("a program's step", program);
  print("a program's step, deterministic", in_order);
  print("a step without an all-reduce", alone);
}

}  // namespace

int main(int argc, char** argv) {
  server node{argc, argv, {{"worker", 2}}};
  session sess{node}, ordered{node, {.deterministic = true}};
  if (node.rank() == 0) std::printf("what | how | median ms | least ms\n");
  compare<262'144>(sess, ordered, node.rank() == 0);
  compare<2'621'440>(sess, ordered, node.rank() == 0);
}
