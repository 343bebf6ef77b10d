// SPDX-License-Identifier: BSL-1.0
// The placement log: which device each operation and each constant went to.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

int main() {
  // [log]
  const auto a = constant<"a">({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  const auto b = constant<"b">({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  const auto c = matmul(a, b);

  session sess{{.log_device_placement = true, .log = &std::cout}};  // without .log: standard error
  std::cout << sess.run(c) << '\n';
  // [log]
}
