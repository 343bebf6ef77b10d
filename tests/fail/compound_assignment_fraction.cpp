// SPDX-License-Identifier: BSL-1.0
// A count is no fraction.
// FAIL: \[onto\.element\] a fraction is no integer: round it first, n \+= int\(x\)
#include <onto/onto.hpp>

using namespace onto;

void grow(tensor<int>& n, const tensor<float>& x) {
#ifdef ONTO_TWIN
  n += int(x);
#else
  n += x;
#endif
}
