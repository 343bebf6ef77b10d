// SPDX-License-Identifier: BSL-1.0
// The first program: say what is computed and where, look at the plan, run it.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

// Symbols: a name, an element type and a shape. They hold no data.
inline constexpr auto a = placeholder<"a", float, 2, 3>;
inline constexpr auto b = placeholder<"b", float, 3, 2>;

int main() {
  constexpr auto product = on<gpu<0>>(matmul(a, b));                // the product on the first GPU,
  constexpr auto total = on<cpu<0>>(product + transpose(product));  // the rest on the CPU

  // The compiler knows the plan: a and b go to the GPU, the product comes back.
  static_assert(plan_of(total).kernels == 2 && plan_of(total).transfers == 3);
  // Where there is no GPU, the same program copies nothing.
  static_assert(plan_of<world<cpu<0>>>(total).transfers == 0);

  session sess{{.allow_soft_placement = true}};  // without a GPU, run on the CPU
  std::cout << sess.run(total, a = {{1, 2, 3}, {4, 5, 6}}, b = {{1, 2}, {3, 4}, {5, 6}}) << '\n';
}
