// SPDX-License-Identifier: BSL-1.0
// A perceptron with one hidden layer learns which of three arms of a spiral a point is on.
#include <Eigen/Dense>

#include <cmath>
#include <cstdio>

constexpr int classes = 3, hidden = 32, points = 300;

using Eigen::MatrixXf;
using Eigen::RowVectorXf;
using Eigen::VectorXf;

int main() {
  MatrixXf x(points, 2), y = MatrixXf::Zero(points, classes);
  for (int k = 0; k < points; ++k) {
    const float r = 0.1f + 0.9f * static_cast<float>(k) / points;
    const float angle = 4.f * r + 2.0944f * static_cast<float>(k % classes);
    x(k, 0) = r * std::cos(angle);
    x(k, 1) = r * std::sin(angle);
    y(k, k % classes) = 1.f;
  }
  MatrixXf w1(2, hidden), w2(hidden, classes);
  for (int k = 0; k < w1.size(); ++k) w1(k / hidden, k % hidden) = 0.8f * std::sin(1.f + 3.f * static_cast<float>(k));
  for (int k = 0; k < w2.size(); ++k) w2(k / classes, k % classes) = 0.3f * std::sin(2.f + 5.f * static_cast<float>(k));
  RowVectorXf b1 = RowVectorXf::Zero(hidden), b2 = RowVectorXf::Zero(classes);

  const float rate = 1.f;
  for (int k = 0; k <= 200; ++k) {
    const MatrixXf h = ((x * w1).rowwise() + b1).cwiseMax(0.f);
    const MatrixXf logits = (h * w2).rowwise() + b2;
    const MatrixXf shifted = logits.colwise() - logits.rowwise().maxCoeff();
    const VectorXf total = shifted.array().exp().rowwise().sum();
    const MatrixXf p = shifted.array().exp().colwise() / total.array();
    const MatrixXf log_p = shifted.array().colwise() - total.array().log();
    const float loss = -(y.array() * log_p.array()).rowwise().sum().mean();
    int right = 0;
    for (int i = 0; i < points; ++i) {
      Eigen::Index guess, truth;
      logits.row(i).maxCoeff(&guess);
      y.row(i).maxCoeff(&truth);
      right += guess == truth;
    }

    const MatrixXf d_logits = (p - y) / static_cast<float>(points);
    const MatrixXf d_h = (h.array() > 0.f).select(d_logits * w2.transpose(), 0.f);
    w1 -= rate * x.transpose() * d_h;
    b1 -= rate * d_h.colwise().sum();
    w2 -= rate * h.transpose() * d_logits;
    b2 -= rate * d_logits.colwise().sum();
    if (k % 40 == 0) std::printf("step %d: loss %.3f, accuracy %.2f\n", k, double(loss), double(right) / points);
  }
}
