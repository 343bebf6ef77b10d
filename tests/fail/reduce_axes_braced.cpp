// SPDX-License-Identifier: BSL-1.0
// Axes in braces, as NumPy's axis=(0, 1), of an expression and of a tensor.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: sum<1>\(x\)
#include <onto/onto.hpp>

using namespace onto;

const tensor<float, 2, 3> t{{1, 2, 3}, {4, 5, 6}};

#ifdef ONTO_TWIN
const auto e = sum<0, 1>(t);
#else
const auto e = sum(t, {0, 1});
#endif
