// SPDX-License-Identifier: BSL-1.0
// Variables on the CPU and on a GPU. GPUs hold no int32 variables, so soft placement puts that one on the CPU.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

int main() {
  // [make]
  const auto near = on<cpu<0>>(variable<"near", float, 2>({1, 2}));
  const auto far = on<gpu<0>>(variable<"far", float, 2>({10, 20}));
  const auto counter = on<gpu<0>>(variable<"counter", int>(0));
  // [make]

  // [run]
  session sess{{.allow_soft_placement = true, .simulated_gpus = 1}};
  // What writes a variable runs where the variable is; what it reads from elsewhere is copied there.
  const auto step = fetches(assign_add(far, near), assign_add(counter, 1));
  std::cout << sess.placement(step) << '\n';

  sess.run(initialize(near, far, counter));
  for (int k = 0; k < 3; ++k) sess.run(step);
  const auto [sum, steps] = sess.run(fetches(far, counter));
  std::cout << sum << " after " << steps << " steps\n";
  // [run]
}
