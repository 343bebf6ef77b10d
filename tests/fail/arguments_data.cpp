// SPDX-License-Identifier: BSL-1.0
// An axis as an argument, of data itself as of an expression.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: sum<1>\(x\), reshape<2, 3>\(x\), slice<0, 2>\(x\), concat<1>\(x, y\)
#include <onto/onto.hpp>

auto sums_of(const onto::tensor<float, 2, 3>& t) {
#ifdef ONTO_TWIN
  return onto::sum<1>(t);
#else
  return onto::sum(t, 1);
#endif
}
