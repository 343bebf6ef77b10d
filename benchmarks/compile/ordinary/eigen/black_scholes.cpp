// SPDX-License-Identifier: BSL-1.0
// Black and Scholes: prices of calls and puts, and how they change with the price of the share.
#include <Eigen/Dense>
#include <unsupported/Eigen/SpecialFunctions>

#include <cmath>
#include <cstdio>

Eigen::ArrayXd normal_cdf(const Eigen::ArrayXd& x) { return 0.5 * (1.0 + (x * (1.0 / std::sqrt(2.0))).erf()); }

int main() {
  const int options = 1000;
  Eigen::ArrayXd spot(options), strike(options), years(options);
  for (int k = 0; k < options; ++k) {
    spot(k) = 80 + k % 41;
    strike(k) = 90 + k % 21;
    years(k) = 0.25 + 0.25 * (k % 8);
  }

  const double rate = 0.03, volatility = 0.2;
  const Eigen::ArrayXd deviation = volatility * years.sqrt();
  const Eigen::ArrayXd d1 = ((spot / strike).log() + (rate + 0.5 * volatility * volatility) * years) / deviation;
  const Eigen::ArrayXd d2 = d1 - deviation;
  const Eigen::ArrayXd discounted = strike * (-rate * years).exp();
  const Eigen::ArrayXd call = spot * normal_cdf(d1) - discounted * normal_cdf(d2);
  const Eigen::ArrayXd put = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1);
  const Eigen::ArrayXd delta = normal_cdf(d1);
  const double off = (call - put - (spot - discounted)).abs().maxCoeff();

  for (int k = 0; k < 5; ++k)
    std::printf("%g at %g, %g years: call %.5f, put %.5f, delta %.5f\n", spot(k), strike(k), years(k), call(k), put(k),
                delta(k));
  std::printf("parity holds: %s\n", off < 1e-10 ? "yes" : "no");
  std::printf("mean call %.6f, mean put %.6f\n", call.mean(), put.mean());
}
