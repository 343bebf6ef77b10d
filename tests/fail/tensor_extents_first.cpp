// SPDX-License-Identifier: BSL-1.0
// The shape before the values.
// FAIL: \[onto\.tensor\] a tensor of a shape is zeros, .* or it has its values first, t\(values, \{2, 3\}\)
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
tensor<float, dyn, dyn> make(const std::vector<float>& v) { return tensor<float, dyn, dyn>(v, {2, 3}); }
#else
tensor<float, dyn, dyn> make(const std::vector<float>& v) { return tensor<float, dyn, dyn>({2, 3}, v); }
#endif
