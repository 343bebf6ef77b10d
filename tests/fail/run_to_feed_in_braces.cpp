// SPDX-License-Identifier: BSL-1.0
// Data that is fed beside an output has a name, too.
// FAIL: \[onto\.feed\] data is fed to a placeholder
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 3>;

int main() {
  onto::session sess;
  onto::tensor<float, 3> out;
#ifdef ONTO_TWIN
  sess.run_to(out, exp(x), x = {1, 2, 3});
#else
  sess.run_to(out, exp(x), {1, 2, 3});
#endif
}
