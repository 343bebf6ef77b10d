// SPDX-License-Identifier: BSL-1.0
// k-means: three centers move to the middle of the points that are nearest to them, until none moves.
#include <Eigen/Dense>

#include <cstdio>
#include <iostream>
#include <random>

constexpr int clusters = 3;

int main() {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0.f, 0.4f);
  Eigen::MatrixX2f points(300, 2);
  for (int k = 0; k < 300; ++k) {
    points(k, 0) = normal(random) + static_cast<float>(k % 3) * 2.f;
    points(k, 1) = normal(random) + static_cast<float>(k % 3 == 1);
  }

  Eigen::Matrix<float, clusters, 2> centers = points.topRows(clusters);
  for (int k = 0; k < 10; ++k) {
    Eigen::Matrix<float, clusters, 2> total = Eigen::Matrix<float, clusters, 2>::Zero();
    Eigen::Matrix<float, clusters, 1> size = Eigen::Matrix<float, clusters, 1>::Zero();
    float inertia = 0.f;
    for (int i = 0; i < points.rows(); ++i) {
      Eigen::Index nearest;
      inertia += (centers.rowwise() - points.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
      total.row(nearest) += points.row(i);
      size(nearest) += 1.f;
    }
    const Eigen::Matrix<float, clusters, 2> next = total.array().colwise() / size.array().max(1.f);
    std::printf("step %d: inertia %.3f, sizes %g %g %g\n", k, double(inertia), double(size(0)), double(size(1)),
                double(size(2)));
    if (next == centers) break;
    centers = next;
  }
  std::cout << centers << '\n';
}
