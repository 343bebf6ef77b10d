// SPDX-License-Identifier: BSL-1.0
// Three tasks with messages in all directions and sums, traced in one file: mpirun -n 3 ./traces FILE [kill]. With
// `kill` task 1 kills itself after some runs.
#include <onto/cluster.hpp>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

using namespace onto;

namespace {

template <int K>
using worker = task<"worker", K>;

constexpr auto x = placeholder<"x", float, 64, 64>;
constexpr auto there = on<worker<0>>(tanh(x));
constexpr auto around = on<worker<0>>(exp(on<worker<2>>(sin(on<worker<1>>(cos(there))))));
constexpr auto back = on<worker<1>>(sin(on<worker<2>>(tanh(on<worker<1>>(exp(there))))));
constexpr auto total = on<worker<0>>(around * 0.5_c) + on<worker<1>>(back * 0.5_c) + on<worker<2>>(cos(there));

}  // namespace

int main(int argc, char** argv) {
  try {
    server node{argc, argv, {{"worker", 3}}};
    session sess{node, {.timeout = 10, .trace = argv[1]}};
    tensor<float, 64, 64> data;
    for (std::size_t k = 0; k < data.size(); ++k) data.data()[k] = static_cast<float>(k % 100) / 100;
    const auto step = sess.prepare(total);
    for (int k = 0; k < 5; ++k) step(x = data);
    if (argc > 2 && std::strcmp(argv[2], "kill") == 0) {
      // All have come from the runs before, and one goes on.
      if (node.rank() == 1) std::raise(SIGKILL);
      step(x = data);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
