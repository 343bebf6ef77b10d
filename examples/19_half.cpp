// SPDX-License-Identifier: BSL-1.0
// half and bfloat16: half the memory and half the copies, computed in float, rounded where a kernel ends.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

// In full, since CUDA's headers have a ::half as well.
inline constexpr auto x = placeholder<"x", onto::half, dyn, 2>;
inline constexpr auto wanted = placeholder<"wanted", onto::half, dyn, 1>;

int main() {
  session sess;

  // [rounding]
  const tensor<onto::half, dyn, 2> in{{500, 0.5}, {3, 4}};
  std::cout << sess.run(x * 200 / 200, x = in) << '\n';  // 100000 is no half: nothing is rounded in between
  std::cout << sess.run(cast<onto::half>(x * 200) / 200, x = in) << '\n';  // but here
  std::cout << sess.run(mean(x), x = in) << '\n';
  // [rounding]

  // [training]
  // Weights are kept in float, so that small steps are not lost; products are of half.
  const auto w = variable<"w", float, 2, 1>(0.0f);
  const auto error = matmul(x, cast<onto::half>(w)) - wanted;
  const auto step = assign_sub(w, 0.125f * cast<float>(matmul(transpose(x), error)));
  // [training]

  const tensor<onto::half, dyn, 2> points{{1, 0}, {0, 1}, {1, 1}};
  const tensor<onto::half, dyn, 1> values{{2}, {-1}, {1}};  // 2 a - b
  sess.initialize(step);
  for (int k = 0; k < 200; ++k) sess.run(step, x = points, wanted = values);
  std::cout << sess.run(cast<onto::half>(w)) << '\n';

  static_assert(plan_of<world<cpu<0>, gpu<0>>>(on<gpu<0>>(zeros<onto::half, 1000>())).transfer_bytes == 2000);
}
