// SPDX-License-Identifier: BSL-1.0
// Every placeholder of a program is fed.
// FAIL: placeholder_is_not_fed<.*'b'
// FAIL: \[onto\.feed\] a placeholder of the program is not fed
#include <onto/onto.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
#ifdef ONTO_TWIN
constexpr auto b = placeholder<"a", float, 2>;
#else
constexpr auto b = placeholder<"b", float, 2>;
#endif

auto result() {
  session sess;
  return sess.run(a + b, a = {1, 2});
}
