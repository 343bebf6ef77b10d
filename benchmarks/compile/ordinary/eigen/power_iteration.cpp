// SPDX-License-Identifier: BSL-1.0
// The largest eigenvalue of a symmetric matrix and its vector, by power iteration.
#include <Eigen/Dense>

#include <cmath>
#include <cstdio>

int main() {
  const int n = 50;
  Eigen::MatrixXd matrix(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) matrix(i, j) = 1.0 / (1.0 + std::abs(i - j)) + (i == j ? 0.1 * i : 0.0);

  Eigen::VectorXd vector = Eigen::VectorXd::Ones(n);
  for (int k = 1; k <= 2000; ++k) {
    const Eigen::VectorXd product = matrix * vector;
    const double eigenvalue = vector.dot(product) / vector.squaredNorm();
    const double residual = (product - eigenvalue * vector).norm();
    vector = product / product.norm();
    if (k % 100 == 0) std::printf("step %d: eigenvalue %.8f\n", k, eigenvalue);
    if (residual < 1e-9) {
      std::printf("eigenvalue %.8f after %d steps\n", eigenvalue, k);
      break;
    }
  }
  for (int i = 0; i < n; i += 7) std::printf("%.6f\n", vector(i));
}
