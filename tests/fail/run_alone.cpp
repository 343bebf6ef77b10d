// SPDX-License-Identifier: BSL-1.0
// A run of nothing.
// FAIL: \[onto\.run\] run takes what is computed
#include <onto/onto.hpp>

using namespace onto;

int main() {
  session sess;
#ifdef ONTO_TWIN
  return static_cast<int>(sess.run(sum(ones<float, 3>())));
#else
  sess.run();
#endif
}
