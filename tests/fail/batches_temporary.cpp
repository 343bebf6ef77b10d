// SPDX-License-Identifier: BSL-1.0
// Batches refer to their data, which a temporary would take with it.
// FAIL: \[onto\.batches\] the data is a temporary
#include <onto/batches.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const tensor<float, dyn, 2> rows({10, 2});
#else
tensor<float, dyn, 2> made() { return tensor<float, dyn, 2>({10, 2}); }
#define rows made()
#endif

float total() {
  float s = 0;
  for (const auto& x : batches(rows, 4)) s += x(0, 0);
  return s;
}
