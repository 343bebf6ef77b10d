// SPDX-License-Identifier: BSL-1.0
// An expression is computed by a session or by evaluate, not by a member of its own, as Eigen has it.
// FAIL: \[onto\.run\] an expression has no value before it is run; take that of sess\.run\(e\) or evaluate\(e\)
#include <onto/onto.hpp>

using namespace onto;

tensor<float, dyn> twice(const tensor<float, dyn>& t) {
#ifdef ONTO_TWIN
  return evaluate(t * 2);
#else
  return (t * 2).eval();
#endif
}
