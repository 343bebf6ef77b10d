// SPDX-License-Identifier: BSL-1.0
// Broadcasting, and an elementwise operation of your own: it fuses like the built-in ones.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

// [operation]
/// x where it is positive, else a part of it.
struct leaky_relu : elementwise<floating_elements> {
  static constexpr std::string_view name = "LeakyRelu";

  template <class T>
  static constexpr T apply(T x, T slope) {  // constexpr, so that nvcc compiles it for the GPU too
    return x > T(0) ? x : slope * x;
  }
};
// [operation]

inline constexpr auto x = placeholder<"x", float, 2, 3>;
inline constexpr auto bias = placeholder<"bias", float, 3>;     // one per column
inline constexpr auto gain = placeholder<"gain", float, 2, 1>;  // one per row

int main() {
  // [use]
  const auto y = call<leaky_relu>(gain * (x + bias), 0.1f);
  static_assert(plan_of(y).kernels == 1);  // a sum, a product and our own operation in one loop
  // [use]

  session sess;
  std::cout << sess.run(y, x = {{1, 2, 3}, {4, 5, 6}}, bias = {-2, -2, -2}, gain = {{1}, {-10}}) << '\n';
}
