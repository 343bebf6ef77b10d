// SPDX-License-Identifier: BSL-1.0
// A tensor of a shape is zeros.
// FAIL: \[onto\.tensor\] a tensor of a shape is zeros, t\(\{2, 3\}\), filled then
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
tensor<float, dyn, dyn> t({2, 3});
#else
tensor<float, dyn, dyn> t({2, 3}, 1.f);
#endif
