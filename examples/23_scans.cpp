// SPDX-License-Identifier: BSL-1.0
// Cumulative sums and extremes: balances from payments, and how far each is below the highest one before.
#include <onto/scan.hpp>

#include <iostream>

using namespace onto;

inline constexpr auto payments = placeholder<"payments", float, 2, dyn>;  // of accounts, day by day

int main() {
  session sess;
  const tensor<float, 2, 5> paid{{10, -2, -3, 4, 1}, {5, 5, -20, 2, 2}};

  // [scans]
  constexpr auto balance = cumsum(payments);        // along the last axis
  constexpr auto drop = cummax(balance) - balance;  // below the highest so far
  constexpr auto still_to_come = cumsum<1>(payments, reverse);
  static_assert(plan_of(drop).kernels == 3);  // two scans, each a kernel of its own, and a difference
  // [scans]

  std::cout << sess.run(balance, payments = paid) << '\n';
  std::cout << sess.run(drop, payments = paid) << '\n';
  std::cout << sess.run(still_to_come, payments = paid) << '\n';
}
