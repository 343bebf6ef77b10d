// SPDX-License-Identifier: BSL-1.0
// Placement by hand: a and b on the CPU; the product, for which nothing is asked, goes to the GPU.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

int main() {
  // [place]
  const auto a = on<cpu<0>>(constant<"a">({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}));
  const auto b = on<cpu<0>>(constant<"b">({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  const auto c = matmul(a, b);
  // [place]

  // One GPU made of host memory, so that the program runs alike on every machine.
  session sess{{.log_device_placement = true, .log = &std::cout, .simulated_gpus = 1}};
  std::cout << sess.run(c) << '\n';
}
