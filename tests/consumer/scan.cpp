// SPDX-License-Identifier: BSL-1.0
// A user's program with an operation that has a header of its own.
#include <onto/scan.hpp>

using namespace onto;

inline constexpr auto a = placeholder<"a", float, 2, 3>;

int main() {
  session sess;
  const auto result = sess.run(cumsum(a), a = tensor<float, 2, 3>{{1, 2, 3}, {4, 5, 6}});
  return result(0, 2) == 6.0f && result(1, 2) == 15.0f ? 0 : 1;
}
