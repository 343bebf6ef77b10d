// SPDX-License-Identifier: BSL-1.0
// An archive of what is no tensor, vector, array or span.
// FAIL: \[onto\.npz\] what is saved is a tensor, or a vector, an array or a span of its elements
#include <onto/npz.hpp>

#include <map>
#include <vector>

#ifdef ONTO_TWIN
void save(const std::vector<float>& values) { onto::save_npz("a.npz", {{"v", values}}); }
#else
void save(const std::map<int, float>& values) { onto::save_npz("a.npz", {{"v", values}}); }
#endif
