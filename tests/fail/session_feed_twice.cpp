// SPDX-License-Identifier: BSL-1.0
// A placeholder that is fed twice in one run.
// FAIL: placeholder_is_fed_twice<.*'a'
// FAIL: \[onto\.feed\] a placeholder is fed twice in one run
#include <onto/onto.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
constexpr auto b = placeholder<"b", float, 2>;

int main() {
  session sess;
#ifdef ONTO_TWIN
  sess.run(a + b, a = {1, 2}, b = {3, 4});
#else
  sess.run(a + b, a = {1, 2}, b = {3, 4}, a = {5, 6});
#endif
}
