// SPDX-License-Identifier: BSL-1.0
// What is saved are elements.
// FAIL: \[onto\.npy\] what is saved is a tensor, or a vector, an array or a span of its elements
#include <onto/onto.hpp>

#include <vector>

using namespace onto;

#ifdef ONTO_TWIN
void save(const std::vector<float>& values) { save_npy("a.npy", values); }
#else
void save(const std::vector<std::vector<float>>& values) { save_npy("a.npy", values); }
#endif
