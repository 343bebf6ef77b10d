// SPDX-License-Identifier: BSL-1.0
// A prepared program is no session: it is called.
// FAIL: \[onto\.run\] a prepared program is called: step\(x = data\), step\.to\(out\)\(x = data\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2>;

int main() {
  onto::session sess;
  const auto step = sess.prepare(x + x);
  const onto::tensor<float, 2> data{1, 2};
#ifdef ONTO_TWIN
  step(x = data);
#else
  step.run(x = data);
#endif
}
