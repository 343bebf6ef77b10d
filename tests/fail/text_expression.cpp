// SPDX-License-Identifier: BSL-1.0
// An expression is run before it is printed.
// FAIL: \[onto\.run\] an expression has no values to print; print sess\.run\(e\)
#include <onto/onto.hpp>

#include <iostream>

constexpr auto x = onto::placeholder<"x", float, 2>;

void print() {
#ifdef ONTO_TWIN
  std::cout << onto::plan_of(x + x).text();
#else
  std::cout << x + x;
#endif
}
