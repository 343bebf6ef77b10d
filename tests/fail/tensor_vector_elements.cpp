// SPDX-License-Identifier: BSL-1.0
// A vector of other elements is copied first.
// FAIL: deleted
// FAIL(g++): \[onto\.tensor\] as vector<float>\(v\.begin\(\), v\.end\(\)\)
// FAIL(clang++): \[onto\.tensor\] as vector<float>\(v\.begin\(\), v\.end\(\)\)
#include <onto/tensor/tensor.hpp>

#include <vector>

#ifdef ONTO_TWIN
std::vector<float> v{1, 2};
#else
std::vector<int> v{1, 2};
#endif

onto::tensor<float, onto::dyn> t(v);
