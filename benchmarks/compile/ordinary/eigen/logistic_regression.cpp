// SPDX-License-Identifier: BSL-1.0
// Logistic regression by gradient descent: which of two clouds of points is a point from?
#include <Eigen/Dense>

#include <cstdio>
#include <random>

constexpr int points = 400;

int main() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  Eigen::MatrixX2f x(points, 2);
  Eigen::VectorXf y(points);
  for (int k = 0; k < points; ++k) {
    const float side = k % 2 == 0 ? 1.f : -1.f;
    x(k, 0) = normal(random) + side;
    x(k, 1) = normal(random) + 0.5f * side;
    y(k) = k % 2 == 0 ? 1.f : 0.f;
  }

  Eigen::Vector2f w = Eigen::Vector2f::Zero();
  float b = 0.f;
  const float rate = 0.5f;
  for (int k = 0; k <= 200; ++k) {
    const Eigen::ArrayXf z = (x * w).array() + b;
    const Eigen::ArrayXf p = 1.f / (1.f + (-z).exp());
    const float loss = -(y.array() * p.log() + (1.f - y.array()) * (1.f - p).log()).mean();
    const float accuracy = ((p > 0.5f) == (y.array() > 0.5f)).cast<float>().mean();
    const Eigen::VectorXf miss = p.matrix() - y;
    w -= rate / points * (x.transpose() * miss);
    b -= rate * miss.mean();
    if (k % 50 == 0) std::printf("step %d: loss %.4f, accuracy %.3f\n", k, double(loss), double(accuracy));
  }
  std::printf("w = %.4f %.4f, b = %.4f\n", double(w(0)), double(w(1)), double(b));
}
