// SPDX-License-Identifier: BSL-1.0
// A pointer does not say how many values there are; what refers to them takes it.
// FAIL: deleted
// FAIL(g++): \[onto\.tensor\] a pointer: tensor_ref<float, dyn>\(p, \{6\}\)
// FAIL(clang++): \[onto\.tensor\] a pointer: tensor_ref<float, dyn>\(p, \{6\}\)
#include <onto/tensor/tensor_ref.hpp>

#include <vector>

using namespace onto;

const std::vector<float> v{1, 2, 3, 4, 5, 6};

#ifdef ONTO_TWIN
const tensor_ref<float, dyn, dyn> t(v.data(), {2, 3});
#else
const tensor<float, dyn, dyn> t(v.data(), {2, 3});
#endif
