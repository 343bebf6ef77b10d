// SPDX-License-Identifier: BSL-1.0
// A count and a value are no tensor of that many, and not silently two values.
// FAIL: \[onto\.tensor\] n times a value is zeros of n, tensor<double, dyn> t\(\{n\}\), filled then
#include <onto/tensor/tensor.hpp>

using namespace onto;

#ifdef ONTO_TWIN
auto make(int n) {
  tensor<double, dyn> t({n});
  for (double& v : t) v = 0.5;
  return t;
}
#else
auto make(int n) {
  tensor t(n, 0.5);
  return t;
}
#endif
