// SPDX-License-Identifier: BSL-1.0
// The words are functions for tensors, too.
// FAIL: \[onto\.operands\] the words for expressions are functions, .* evaluate\(sum\(x\)\)
#include <onto/onto.hpp>

using namespace onto;

float total(const tensor<float, dyn, 3>& t) {
#ifdef ONTO_TWIN
  return evaluate(sum(t));
#else
  return t.sum();
#endif
}
