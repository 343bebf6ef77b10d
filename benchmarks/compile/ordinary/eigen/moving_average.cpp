// SPDX-License-Identifier: BSL-1.0
// Moving averages of a price, how much it varies, and where the short average crosses the long one.
#include <Eigen/Dense>

#include <cmath>
#include <cstdio>
#include <numeric>

constexpr int days = 250;

using Eigen::ArrayXd;

template <int Window>
ArrayXd moving_average(const ArrayXd& x) {
  ArrayXd total(x.size() + 1);
  total(0) = 0;
  std::partial_sum(x.begin(), x.end(), total.begin() + 1);
  const auto many = x.size() + 1 - Window;
  return (total.tail(many) - total.head(many)) / double(Window);
}

int main() {
  ArrayXd price(days);
  for (int k = 0; k < days; ++k) price(k) = 100 + 0.05 * k + 8 * std::sin(0.11 * k) + 3 * std::sin(0.57 * k);

  const ArrayXd slow = moving_average<20>(price);
  const ArrayXd fast = moving_average<5>(price).tail(slow.size());  // as long as the slow one
  const Eigen::ArrayXi above = (fast > slow).cast<int>();
  const auto steps = slow.size() - 1;
  const int crossings = (above.tail(steps) - above.head(steps)).abs().sum();
  const ArrayXd variance = moving_average<20>(price.square()) - slow.square();
  const ArrayXd spread = variance.max(0.0).sqrt();
  const ArrayXd returns = (price.tail(days - 1) / price.head(days - 1)).log();
  const double volatility = std::sqrt((returns - returns.mean()).square().mean() * 250.0);

  for (int k = 0; k < 231; k += 30) std::printf("%.4f %.4f +- %.4f\n", fast(k), slow(k), spread(k));
  std::printf("crossings: %d\n", crossings);
  std::printf("volatility %.6f\n", volatility);
}
