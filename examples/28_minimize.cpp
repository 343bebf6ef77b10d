// SPDX-License-Identifier: BSL-1.0
// A perceptron learns the exclusive or: one step of training is a constant plan, from the inputs to the new parameters.
#include <onto/onto.hpp>

#include <cstdio>

using namespace onto;

inline constexpr auto x = placeholder<"x", float, 4, 2>;
inline constexpr auto y = placeholder<"y", float, 4, 1>;

// [layer]
// A layer makes its own variables, whose names and extents are arguments of its template.
template <fixed_string Weights, fixed_string Shifts, int In, int Out>
constexpr auto dense(const expression auto& in, const expression auto& first) {
  return matmul(in, variable<Weights, float, In, Out>(first)) + variable<Shifts, float, Out>(zeros<float, Out>());
}
// [layer]

int main() {
  // [model]
  constexpr auto hidden = tanh(dense<"w1", "b1", 2, 8>(x, sin(reshape<2, 8>(iota<float, 16>()))));
  constexpr auto guess = sigmoid(dense<"w2", "b2", 8, 1>(hidden, cos(reshape<8, 1>(iota<float, 8>()))));
  constexpr auto loss = mean(square(guess - y));
  constexpr auto step = minimize<adam{.rate = 0.05}>(loss);
  // [model]

  // [plan]
  constexpr auto plan = plan_of(step);
  static_assert(plan.kernels ==
                13);  // 11 forward and backward, 1 for numbers, 1 for the parameters and what Adam keeps
  static_assert(plan.transfers == 0);  // all of it on the CPU
  // [plan]

  // [loop]
  const tensor<float, 4, 2> xs{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  const tensor<float, 4, 1> ys{{0}, {1}, {1}, {0}};
  session sess{{.allow_soft_placement = true}};
  sess.initialize(step);  // the parameters, and what the optimizer keeps
  auto learn = sess.prepare(step);
  for (int k = 0; k <= 400; ++k) {
    const float now = learn(x = xs, y = ys);  // the loss before this step
    if (k % 200 == 0) std::printf("step %3d: loss %.2f\n", k, static_cast<double>(now));
  }
  const auto learned = sess.run(guess, x = xs);
  // [loop]
  for (int k = 0; k < 4; ++k)
    std::printf("%g xor %g is %.0f\n", static_cast<double>(xs(k, 0)), static_cast<double>(xs(k, 1)),
                static_cast<double>(learned(k, 0)));
  const bool counted = static_cast<std::int64_t>(sess.run(training_step())) == 401;
  return counted && learned(1, 0) > 0.5f && learned(3, 0) < 0.5f ? 0 : 1;
}
