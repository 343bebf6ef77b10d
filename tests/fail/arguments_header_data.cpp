// SPDX-License-Identifier: BSL-1.0
// So it is of tensors themselves.
// FAIL: \[onto\.include\] with #include <onto/indexing\.hpp> it is written take<0>\(x, i\)
#ifdef ONTO_TWIN
#include <onto/indexing.hpp>
#else
#include <onto/onto.hpp>
#endif

const onto::tensor<float, 3> x{1, 2, 3};
const onto::tensor<int, 2> i{2, 0};

const auto y = onto::take<0>(x, i);
