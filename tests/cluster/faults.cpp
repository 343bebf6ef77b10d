// SPDX-License-Identifier: BSL-1.0
// Three processes that train, and what one of them does to the others: the first argument says what, the second when.
// With `train FILE STEPS PROCESSES` any number of processes that save as they go, and go on from what was saved; with
// `pace HOW PROCESSES` workers that do not wait for each other.
#include <onto/cluster.hpp>

#include "asynchronous.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", float, 8, 8>;

void fail_as_asked(const std::string& how) {
  if (how == "kill") std::raise(SIGKILL);
  if (how == "stop") std::raise(SIGSTOP);
  if (how == "late") sleep(12);
  if (how == "throw") throw std::runtime_error("the program itself has failed");
  if (how == "exit") std::exit(3);
}

/// Lets this process take 64 MiB more than it has, and no more.
void limit_memory() {
  std::ifstream pages("/proc/self/statm");
  rlim_t size = 0;
  pages >> size;
  const rlim_t most = size * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20);
  const rlimit limit{most, most};
  if (setrlimit(RLIMIT_AS, &limit) != 0) throw std::runtime_error("setrlimit failed");
}

/// A program for which task 2 has not the memory: all hear of it, and go on. *Returns* whether that is so.
bool survive(server& node) {
  session sess{node, {.timeout = 10}};
  const auto column = reshape<8192, 1>(iota<float, 8192>());
  const auto large = on<task<"worker", 1>>(sum(exp(matmul(column, transpose(column)) * 1e-9f)));
  const auto small = on<task<"worker", 1>>(sum(x)) + on<task<"worker", 0>>(max(x));
  const tensor<float, 8, 8> ones(std::vector<float>(64, 1.f));
  sess.run(small, x = ones);
  if (node.rank() == 2) limit_memory();
  try {
    sess.run(large * 2.f);
    return false;
  } catch (const resource_exhausted_error& e) {
    std::fprintf(stderr, "task %d: %s\n", node.rank(), e.what());
  }
  return static_cast<float>(sess.run(small, x = ones)) == 65;
}

/// An expression on a task that only the run knows.
template <class F>
auto on_task(int number, const F& f) {
  device_guard g{("/task:" + std::to_string(number)).c_str()};
  return f();
}

/// After step k `w` is 3 k and `v` is k, on whatever tasks they are. *Returns* whether they are at the end.
bool train(server& node, const std::string& file, int steps) {
  // Who is to be killed.
  std::filesystem::create_directories(file + ".pids");
  std::ofstream(file + ".pids/" + std::to_string(node.rank())) << ::getpid() << std::flush;
  const int last = node.size() - 1;
  session sess{node, {.timeout = 10}};
  const auto w = variable<"w", float, 8, 8>(0.f);
  const auto v = variable<"v", float, 100000>(0.f);
  const auto one = on_task(last / 2, [] { return x * 1.f; });
  const auto two = on_task(last / 3, [&] { return matmul(x, x) * 0.25f; });
  const auto first = on_task(0, [&] { return assign_add(w, one + two); });
  const auto second = on_task(last, [&] { return sum(assign_add(v, 1.f)) * 1e-5f; });
  sess.initialize(first);
  sess.initialize(second);
  try {
    sess.restore(file);
  } catch (const not_found_error&) {
  }
  const auto count = [&] { return static_cast<int>(static_cast<float>(sess.run(max(v)))); };
  int k = count();
  if (node.rank() == 0) std::printf("from %d\n", k);
  const auto learn = sess.prepare(fetches(first, second));
  const tensor<float, 8, 8> ones(std::vector<float>(64, 1.f));
  for (; k < steps; ++k) {
    if (k % 5 == 0) {
      sess.save(file);
      if (node.rank() == 0) std::printf("saved %d\n", k);
      std::fflush(stdout);
    }
    learn(x = ones);
  }
  sess.save(file);
  const float least = sess.run(min(w)), most = sess.run(max(w));
  return least == 3.f * static_cast<float>(steps) && most == least && count() == steps;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "nothing";
  if (how == "train" && argc == 5) try {
      server node{argc, argv, cluster_spec{{"worker", std::atoi(argv[4])}}};
      return train(node, argv[2], std::atoi(argv[3])) ? 0 : 5;
    } catch (const error& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return 4;
    }
  if (how == "pace" && argc == 4) try {
      const std::string what = argv[2];
      const int workers = std::atoi(argv[3]) - 1;
      int level = MPI_THREAD_SINGLE;
      if (what == "serialized") MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
      bool good = false;
      {
        server node{argc, argv, cluster_spec{{"ps", 1}, {"worker", workers}}};
        good = onto_test::train_at_own_pace(node, workers, what == "stop");
      }
      if (what == "serialized") MPI_Finalize();
      return good ? 0 : 5;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return 4;
    }
  const int when = argc > 2 && how != "cut" ? std::atoi(argv[2]) : 20;
  server node{argc, argv, {{"ps", 1}, {"worker", 2}}};
  if (how == "memory") return survive(node) ? 0 : 5;
  try {
    session sess{node, {.timeout = 3}};
    const auto w = variable<"w", float, 8, 8>(1.f);
    const auto mine = on<task<"worker", 0>>(matmul(x, w));
    const auto yours = on<task<"worker", 1>>(matmul(x, w) * 0.5f);
    sess.initialize(on<task<"ps", 0>>(w));
    const auto sum = mine + yours;  // the workers' all-reduce
    const auto step = sess.prepare(fetches(on<task<"ps", 0>>(assign(w, (mine + yours) * 0.01f)),
                                           on<task<"worker", 0>>(exp(sum)), on<task<"worker", 1>>(tanh(sum))));
    const tensor<float, 8, 8> ones(std::vector<float>(64, 1.f));
    const int steps = how == "cut" ? 1 << 30 : 200;  // until the test cuts the hosts off from each other
    for (int k = 0; k < steps; ++k) {
      if (how == "cut" && k == 20 && node.rank() == 0) std::ofstream(argv[2]) << k;
      if (node.rank() == 2 && k == when) {
        if (how == "leave") break;
        // In the middle of a step: the other worker has begun the all-reduce, and waits there.
        if (how == "inside") sess.inject({[](void*, const char*) { std::raise(SIGSTOP); }, nullptr});
        fail_as_asked(how);
      }
      step(x = ones);
    }
    std::printf("task %d is done\n", node.rank());
  } catch (const failed_precondition_error& e) {
    std::fprintf(stderr, "task %d: %s\n", node.rank(), e.what());
    // A launcher may end before words come to it from a host that was cut off.
    if (how == "cut")
      std::ofstream(argv[2] + ("." + std::to_string(node.rank()))) << "task " << node.rank() << ": " << e.what();
    return 4;
  }
}
