// SPDX-License-Identifier: BSL-1.0
// A cluster of two processes: each computes its part and prints what arrives there. Start it with mpirun -n 2.
#include <onto/cluster.hpp>

#include <iostream>
#include <sstream>

using namespace onto;

int main(int argc, char** argv) {
  // [servers]
  const auto first = on<task<"local", 0>>(constant("Hello from server1!"));
  const auto second = on<task<"local", 1>>(constant("Hello from server2!"));

  server node{argc, argv, {{"local", 2}}};
  std::ostringstream text;  // one piece: mpirun mixes what processes print
  session sess{node, {.log_device_placement = true, .log = &text}};
  const auto [a, b] = sess.run(fetches(first, second));  // each arrives where it is placed
  text << "task " << node.task_index() << ": " << (node.task_index() == 0 ? a : b) << '\n';
  std::cout << text.str();
  // [servers]
}
