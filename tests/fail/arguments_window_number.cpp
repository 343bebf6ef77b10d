// SPDX-License-Identifier: BSL-1.0
// A window is a word, not a number.
// FAIL: \[onto\.operands\] it takes other arguments: .*max_pool2d<window<2>>\(x\)
#include <onto/convolution.hpp>

const onto::tensor<float, 1, 8, 8, 3> x;
#ifdef ONTO_TWIN
const auto y = onto::max_pool2d<onto::window<2>>(x);
#else
const auto y = onto::max_pool2d<2>(x);
#endif
