// SPDX-License-Identifier: BSL-1.0
// And of numbers in braces.
// FAIL: \[onto\.include\] with #include <onto/indexing\.hpp> it is written scatter\(x, i, updates\)
#ifdef ONTO_TWIN
#include <onto/indexing.hpp>
#else
#include <onto/onto.hpp>
#endif

const onto::tensor<float, 3> x{1, 2, 3};

const auto y = onto::scatter(x, {2, 0}, {1.5, 2.5});
