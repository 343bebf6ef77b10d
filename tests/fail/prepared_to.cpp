// SPDX-License-Identifier: BSL-1.0
// Where results go is said once, before the feeds.
// FAIL: \[onto\.run\] a prepared program is called: step\(x = data\), step\.to\(out\)\(x = data\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2>;

int main() {
  onto::session sess;
  const auto step = sess.prepare(x + x);
  const onto::tensor<float, 2> data{1, 2};
  onto::tensor<float, 2> out;
#ifdef ONTO_TWIN
  step.to(out)(x = data);
#else
  step.to(out, x = data);
#endif
}
