// SPDX-License-Identifier: BSL-1.0
// The values of a result that is kept nowhere, in a loop.
// FAIL: temporary
// FLAGS: -Werror
// ONLY: clang++
#include <onto/onto.hpp>

using namespace onto;

tensor<float, dyn> made();

float total() {
  float all = 0;
#ifdef ONTO_TWIN
  for (float v : made()) all += v;
  all += made()(0) + made().values()[1];
#else
  for (float v : made().values()) all += v;
#endif
  return all;
}
