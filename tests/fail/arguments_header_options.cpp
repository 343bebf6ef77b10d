// SPDX-License-Identifier: BSL-1.0
// Options of convolutions are there without their header.
// FAIL: \[onto\.include\] with #include <onto/convolution\.hpp> it is written conv2d<strides<2>, same>\(x, w\)
#ifdef ONTO_TWIN
#include <onto/convolution.hpp>
#else
#include <onto/onto.hpp>
#endif

const onto::tensor<float, 2, 8, 8, 3> x;
const onto::tensor<float, 3, 3, 3, 4> k;

const auto y = onto::conv2d<onto::strides<2>, onto::same>(x, k);
