// SPDX-License-Identifier: BSL-1.0
// A placeholder of numbers takes no list of texts.
// FAIL: \[onto\.feed\] the data's elements are of another type
#include <onto/onto.hpp>

constexpr auto y = onto::placeholder<"y", int, onto::dyn>;

int main() {
  onto::session sess;
#ifdef ONTO_TWIN
  sess.run(y + y, y = {1, 2});
#else
  sess.run(y + y, y = {"a", "b"});
#endif
}
