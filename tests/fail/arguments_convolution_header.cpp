// SPDX-License-Identifier: BSL-1.0
// Convolutions have a header of their own.
// FAIL: \[onto\.include\] with #include <onto/convolution\.hpp> it is written conv2d<strides<2>, same>\(x, w\)
#ifdef ONTO_TWIN
#include <onto/convolution.hpp>
#else
#include <onto/onto.hpp>
#endif

constexpr auto x = onto::placeholder<"x", float, 2, 8, 8, 3>;
constexpr auto k = onto::placeholder<"k", float, 3, 3, 3, 4>;

const auto y = conv2d(x, k);
