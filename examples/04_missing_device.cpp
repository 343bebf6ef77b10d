// SPDX-License-Identifier: BSL-1.0
// A device that is not there: an error that names every operation concerned, or soft placement.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

auto on_the_third_gpu() {
  device_guard scope{"/gpu:2"};  // constants that are written under a guard are placed by it too
  const auto a = constant<"a">({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  const auto b = constant<"b">({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  return matmul(a, b);
}

int main() {
  const auto c = on_the_third_gpu();

  // [hard]
  session strict;  // what is asked for is what happens, or nothing does
  try {
    std::cout << strict.run(c) << '\n';
  } catch (const invalid_argument_error& e) {
    std::cout << e.what() << "\n\n";
  }
  // [hard]

  // [soft]
  session soft{{.allow_soft_placement = true, .log_device_placement = true, .log = &std::cout}};
  std::cout << soft.run(c) << '\n';
  // [soft]
}
