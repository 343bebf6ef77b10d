// SPDX-License-Identifier: BSL-1.0
// The plan is a constant: kernels, copies, bytes and memory of a program, asserted on while it compiles, in every
// world.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

inline constexpr auto x = placeholder<"x", float, 256, 64>;
inline constexpr auto w = placeholder<"w", float, 64, 32>;
inline constexpr auto b = placeholder<"b", float, 32>;

int main() {
  // [counts]
  constexpr auto layer = on<gpu<0>>(relu(matmul(x, w) + b));
  constexpr auto shares = on<cpu<0>>(softmax(layer));

  static_assert(plan_of(layer).kernels == 1);    // the sum and relu are part of the matrix product
  static_assert(plan_of(layer).transfers == 4);  // x, w and b to the GPU, the result back
  static_assert(plan_of(shares).kernels == 2);
  static_assert(plan_of(shares).transfers == 4);  // softmax reads the copy
  static_assert(plan_of(shares).transfer_bytes == 4 * (256 * 64 + 64 * 32 + 32 + 256 * 32));
  // [counts]

  // [worlds]
  using laptop = world<cpu<0>>;
  using server = world<cpu<0>, gpu<0>>;
  static_assert(placeable<server>(shares) && !placeable<laptop>(shares));  // without soft placement
  static_assert(plan_of<laptop>(shares).transfers == 0);                   // with it
  static_assert(plan_of<server>(shares).peak_bytes(gpu<0>{}) >= 4 * 256 * 32);
  // [worlds]

  // [text]
  std::cout << "kernels " << plan_of(shares).kernels << ", transfers " << plan_of(shares).transfers << " of "
            << plan_of(shares).transfer_bytes << " bytes, " << plan_of(shares).flops << " flops\n\n";
  std::cout << plan_of(shares).text() << '\n';  // the steps
  std::cout << plan_of(shares).dot() << '\n';   // a picture: write it to a file, run `dot -Tsvg`
  // [text]
}
