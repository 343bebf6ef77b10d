// SPDX-License-Identifier: BSL-1.0
// A tensor is not changed by an operator.
// FAIL: \[onto\.run\] operators make expressions of a tensor, and do not change it: t = evaluate\(t \+ x\)
#include <onto/onto.hpp>

using namespace onto;

void grow(tensor<float, 3>& t) {
#ifdef ONTO_TWIN
  t = evaluate(t + 1);
#else
  t += 1;
#endif
}
