// SPDX-License-Identifier: BSL-1.0
// Extents as arguments, as Eigen has them.
// FAIL: deleted
// FAIL(g++): \[onto\.tensor\] extents and rows are in braces: t\(\{2, 3\}\)
// FAIL(clang++): \[onto\.tensor\] extents and rows are in braces: t\(\{2, 3\}\)
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
tensor<float, dyn, dyn> t({2, 3});
#else
tensor<float, dyn, dyn> t(2, 3);
#endif
