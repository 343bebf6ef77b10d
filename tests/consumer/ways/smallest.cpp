// SPDX-License-Identifier: BSL-1.0
// As little as a program can be and still run a kernel: the ways to get onto are tested, not what it does.
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 3>;

int main() {
  const float total = onto::evaluate(sum(x), x = {1, 2, 3});
  return total == 6 ? 0 : 1;
}
