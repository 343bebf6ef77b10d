// SPDX-License-Identifier: BSL-1.0
// Widths of data's axes, without the word for them.
// FAIL: \[onto\.axis\] axes, extents and ranges are known to the compiler: sum<1>\(x\)
#include <onto/onto.hpp>

using namespace onto;

const tensor<float, 2, 3> x;

#ifdef ONTO_TWIN
const auto y = pad<padding<1>, padding<1>>(x);
#else
const auto y = pad<1, 1>(x);
#endif
