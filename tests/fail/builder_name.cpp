// SPDX-License-Identifier: BSL-1.0
// One name stands for one thing.
// FAIL: two_meanings_of_one_name<.*'x'
// FAIL: \[onto\.name\] one name stands for two different things
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
#ifdef ONTO_TWIN
constexpr auto rows = placeholder<"rows", float, 3, 2>;
#else
constexpr auto rows = placeholder<"x", float, 3, 2>;
#endif

auto result() {
  session sess;
  return sess.run(x + rows, x = {1, 2}, rows = {{1, 2}, {3, 4}, {5, 6}});
}
