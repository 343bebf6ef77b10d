// SPDX-License-Identifier: BSL-1.0
// Scopes nest: the inner one wins. `on` is known to the compiler, a device_guard at run time, and they combine.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

inline constexpr auto x = placeholder<"x", float, 3>;

int main() {
  session sess{{.simulated_gpus = 2}};

  // [on]
  const auto inner = on<cpu<0>>(exp(x));     // placed: keeps its place
  const auto outer = on<gpu<1>>(inner + x);  // the sum has no place yet: it gets this one
  std::cout << sess.placement(outer) << '\n';
  // [on]

  // [guards]
  device_guard everything{"/gpu:1"};
  const auto far = square(x);
  const auto near = [&] {
    device_guard local{"/cpu:0"};  // the inner guard wins
    return -far;
  }();
  const auto anywhere = [&] {
    device_guard cut{no_device};  // the outer guards do not reach here
    return sum(near);
  }();
  std::cout << sess.placement(anywhere) << '\n';
  // [guards]

  // [explain]
  const placement_report report = sess.placement(outer);
  std::cout << report.at("Exp").assigned.to_string() << ": " << report.at("Exp").why << '\n';
  std::cout << report.at("x").assigned.to_string() << ": " << report.at("x").why << '\n';
  // [explain]
}
