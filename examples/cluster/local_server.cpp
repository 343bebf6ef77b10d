// SPDX-License-Identifier: BSL-1.0
// A cluster of this process alone: no mpirun, and no call of MPI's.
#include <onto/cluster.hpp>

#include <iostream>

using namespace onto;

int main() {
  // [local]
  const auto s = constant("Hello, distributed onto!");
  server node = local_server();
  session sess{node, {.log_device_placement = true, .log = &std::cout}};
  std::cout << sess.run(s) << '\n';
  // [local]
}
