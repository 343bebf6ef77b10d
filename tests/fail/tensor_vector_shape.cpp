// SPDX-License-Identifier: BSL-1.0
// A vector has no shape of its own.
// FAIL: deleted
// FAIL(g++): \[onto\.tensor\] a vector has no shape: t\(v, \{2, 3\}\)
// FAIL(clang++): \[onto\.tensor\] a vector has no shape: t\(v, \{2, 3\}\)
#include <onto/tensor/tensor.hpp>

#include <vector>

std::vector<float> v{1, 2};

#ifdef ONTO_TWIN
onto::tensor<float, onto::dyn, onto::dyn> t(v, {1, 2});
#else
onto::tensor<float, onto::dyn, onto::dyn> t(v);
#endif
