// SPDX-License-Identifier: BSL-1.0
// A slope for `relu` of data.
// FAIL: \[onto\.operands\] this word takes one operand
#include <onto/onto.hpp>

using namespace onto;

auto leaky(const tensor<float, dyn>& x) {
#ifdef ONTO_TWIN
  return maximum(x, 0.1f * x);
#else
  return relu(x, 0.1f);
#endif
}
