// SPDX-License-Identifier: BSL-1.0
// Black and Scholes: prices of calls and puts, and how they change with the price of the share.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace onto;

inline constexpr auto spot = placeholder<"spot", double, dyn>;
inline constexpr auto strike = placeholder<"strike", double, dyn>;
inline constexpr auto years = placeholder<"years", double, dyn>;
inline constexpr auto rate = placeholder<"rate", double>;
inline constexpr auto volatility = placeholder<"volatility", double>;

auto normal_cdf(auto x) { return 0.5 * (1.0 + erf(x * (1.0 / std::sqrt(2.0)))); }

int main() {
  const int options = 1000;
  std::vector<double> spots, strikes, maturities;
  for (int k = 0; k < options; ++k) {
    spots.push_back(80 + k % 41);
    strikes.push_back(90 + k % 21);
    maturities.push_back(0.25 + 0.25 * (k % 8));
  }

  const auto deviation = volatility * sqrt(years);
  const auto d1 = (log(spot / strike) + (rate + 0.5 * square(volatility)) * years) / deviation;
  const auto d2 = d1 - deviation;
  const auto discounted = strike * exp(-rate * years);
  const auto call = spot * normal_cdf(d1) - discounted * normal_cdf(d2);
  const auto put = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1);
  const auto delta = normal_cdf(d1);
  const auto off = max(abs(call - put - (spot - discounted)));

  session sess;
  const auto [calls, puts, deltas, parity] = sess.run(fetches(call, put, delta, off), spot = spots, strike = strikes,
                                                      years = maturities, rate = 0.03, volatility = 0.2);
  for (int k = 0; k < 5; ++k)
    std::printf("%g at %g, %g years: call %.5f, put %.5f, delta %.5f\n", spots[k], strikes[k], maturities[k], calls(k),
                puts(k), deltas(k));
  std::printf("parity holds: %s\n", parity < 1e-10 ? "yes" : "no");
  std::printf(
      "mean call %.6f, mean put %.6f\n",
      double(sess.run(mean(call), spot = spots, strike = strikes, years = maturities, rate = 0.03, volatility = 0.2)),
      double(sess.run(mean(put), spot = spots, strike = strikes, years = maturities, rate = 0.03, volatility = 0.2)));
}
