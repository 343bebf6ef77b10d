// SPDX-License-Identifier: BSL-1.0
// One model in two halves: each tower takes half of the batch, their losses and gradients are averaged.
#include <Eigen/Dense>

#include <cmath>
#include <cstdio>
#include <utility>

constexpr int batch = 64, half_batch = batch / 2, inputs = 12;

using Eigen::VectorXf;

std::pair<float, VectorXf> tower(const Eigen::Ref<const Eigen::MatrixXf>& x, const Eigen::Ref<const VectorXf>& y,
                                 const VectorXf& w) {
  const VectorXf guess = (x * w).array().tanh();
  const VectorXf miss = guess - y;
  const VectorXf outer = 2.f / half_batch * miss.array() * (1.f - guess.array().square());
  return {miss.array().square().mean(), x.transpose() * outer};
}

int main() {
  Eigen::MatrixXf xs(batch, inputs);
  VectorXf ys(batch), weights = VectorXf::Zero(inputs);
  for (int i = 0; i < batch; ++i) {
    float total = 0.f;
    for (int j = 0; j < inputs; ++j) {
      xs(i, j) = std::sin(static_cast<float>(i + 3 * i * j));
      total += xs(i, j) * (j % 2 == 0 ? 0.5f : -0.3f);
    }
    ys(i) = std::tanh(total);
  }

  for (int k = 0; k <= 60; ++k) {
    const auto [loss0, gradient0] = tower(xs.topRows<half_batch>(), ys.head<half_batch>(), weights);
    const auto [loss1, gradient1] = tower(xs.bottomRows<half_batch>(), ys.tail<half_batch>(), weights);
    weights -= 0.5f * (gradient0 + gradient1);
    if (k % 15 == 0) std::printf("step %d: loss %.5f\n", k, double((loss0 + loss1) / 2.f));
  }
  for (int j = 0; j < inputs; j += 3) std::printf("%.3f\n", double(weights(j)));
}
