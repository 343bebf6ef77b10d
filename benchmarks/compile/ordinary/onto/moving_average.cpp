// SPDX-License-Identifier: BSL-1.0
// Moving averages of a price, how much it varies, and where the short average crosses the long one.
#include <onto/scan.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

using namespace onto;

constexpr int days = 250;

inline constexpr auto price = placeholder<"price", double, days>;

template <int Window>
auto moving_average(auto x) {
  const auto total = concat<0>(zeros<double, 1>(), cumsum(x));
  return (slice<Window, to_end>(total) - slice<0, -Window>(total)) / double(Window);
}

int main() {
  std::vector<double> prices;
  for (int k = 0; k < days; ++k) prices.push_back(100 + 0.05 * k + 8 * std::sin(0.11 * k) + 3 * std::sin(0.57 * k));

  const auto fast = slice<15, to_end>(moving_average<5>(price));  // as long as the slow one
  const auto slow = moving_average<20>(price);
  const auto above = cast<int>(fast > slow);
  const auto crossings = sum(abs(slice<1, to_end>(above) - slice<0, -1>(above)));
  const auto variance = moving_average<20>(square(price)) - square(slow);
  const auto returns = log(slice<1, to_end>(price) / slice<0, -1>(price));
  const auto volatility = sqrt(mean(square(returns - mean(returns))) * 250.0);

  session sess;
  const auto [f, s, times, spread, yearly] =
      sess.run(fetches(fast, slow, crossings, sqrt(maximum(variance, 0.0)), volatility), price = prices);
  for (int k = 0; k < 231; k += 30) std::printf("%.4f %.4f +- %.4f\n", f(k), s(k), spread(k));
  std::printf("crossings: %d\n", int(times));
  std::printf("volatility %.6f\n", double(yearly));
}
