// SPDX-License-Identifier: BSL-1.0
// Python's power is a word.
// FAIL: \[onto\.operands\] .*Python's x \*\* y is written pow\(x, y\)
#include <onto/onto.hpp>

const onto::tensor<float, 2> x{1, 2};

#ifdef ONTO_TWIN
const auto y = pow(2, x);
#else
const auto y = 2 * *x;
#endif
