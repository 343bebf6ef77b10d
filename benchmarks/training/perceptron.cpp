// SPDX-License-Identifier: BSL-1.0
// The step of perceptron.hpp as a row.
#include "perceptron.hpp"

#include "rows.hpp"

beside::row training::perceptron(int threads) {
  using namespace perceptron_network;
  return row_of(
      threads, step, plan_of<world<cpu<0>>>(step).peak_bytes(cpu<0>{}),
      [X = numbers<128, 784>(1), Y = labels<128>()](auto& learn) { return learn(x = X, y = Y); },
      set<784, 512>(w1, 2, 0.1), set<512, 512>(w2, 3, 0.1), set<512, 10>(w3, 4, 0.1));
}
