// SPDX-License-Identifier: BSL-1.0
// The largest eigenvalue of a symmetric matrix and its vector, by power iteration.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdio>

using namespace onto;

inline constexpr auto a = placeholder<"a", double, dyn, dyn>;
inline constexpr auto v = placeholder<"v", double, dyn, 1>;

int main() {
  const int n = 50;
  tensor<double, dyn, dyn> matrix({n, n});
  tensor<double, dyn, 1> vector({n, 1});
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) matrix(i, j) = 1.0 / (1.0 + std::abs(i - j)) + (i == j ? 0.1 * i : 0.0);
    vector(i, 0) = 1.0;
  }

  const auto product = matmul(a, v);
  const auto next = product / sqrt(sum(square(product)));
  const auto value = sum(v * product) / sum(square(v));
  const auto residual = sqrt(sum(square(product - value * v)));

  session sess;
  auto step = sess.prepare(fetches(next, value, residual));
  for (int k = 1; k <= 2000; ++k) {
    auto [after, eigenvalue, off] = step(a = matrix, v = vector);
    vector = after;
    if (k % 100 == 0) std::printf("step %d: eigenvalue %.8f\n", k, double(eigenvalue));
    if (off < 1e-9) {
      std::printf("eigenvalue %.8f after %d steps\n", double(eigenvalue), k);
      break;
    }
  }
  for (int i = 0; i < n; i += 7) std::printf("%.6f\n", vector(i, 0));
}
