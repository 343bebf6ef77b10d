// SPDX-License-Identifier: BSL-1.0
// Data itself in expressions, computed without a session, into memory that is there.
#include <onto/onto.hpp>

#include <iostream>
#include <vector>

using namespace onto;

int main() {
  const tensor<float, dyn> heights{1.62f, 1.75f, 1.81f};
  const std::vector<float> weights{58, 77, 70};

  const auto index = weights / square(heights);  // nothing is computed yet
  std::cout << evaluate(index) << '\n';
  const float mean_index = evaluate(mean(index));
  std::cout << mean_index << '\n';

  std::vector<float> out(3);
  evaluate_to(out, round(index));  // no tensor is made
  std::cout << out[0] << ' ' << out[1] << ' ' << out[2] << '\n';
}
