// SPDX-License-Identifier: BSL-1.0
// A comparison of whole tensors among comparisons of elements.
// FAIL: \[onto\.element\] t == u of two tensors is one bool; write constant\(t\) == u for one of each element
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
#define LEFT constant(t)
#else
#define LEFT t
#endif

using namespace onto;

auto both(const tensor<float, dyn>& t, const tensor<float, dyn>& u) { return evaluate((LEFT == u) & (t > 0)); }
