// SPDX-License-Identifier: BSL-1.0
// Three processes that train, and what one of them does to the others: the first argument says what, the second when.
#include <onto/cluster.hpp>

#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
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

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "nothing";
  const int when = argc > 2 ? std::atoi(argv[2]) : 20;
  server node{argc, argv, {{"ps", 1}, {"worker", 2}}};
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
    for (int k = 0; k < 200; ++k) {
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
    return 4;
  }
}
