// SPDX-License-Identifier: BSL-1.0
// Extents behind the values, as arguments.
// FAIL: deleted
// FAIL(g++): \[onto\.tensor\] extents and rows are in braces: t\(\{2, 3\}\), t\(v, \{2, 3\}\)
// FAIL(clang++): \[onto\.tensor\] extents and rows are in braces: t\(\{2, 3\}\), t\(v, \{2, 3\}\)
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
tensor<float, dyn, dyn> make(const std::vector<float>& v) { return tensor<float, dyn, dyn>(v, {2, 3}); }
#else
tensor<float, dyn, dyn> make(const std::vector<float>& v) { return tensor<float, dyn, dyn>(v, 2, 3); }
#endif
