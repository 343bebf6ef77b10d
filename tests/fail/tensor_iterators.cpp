// SPDX-License-Identifier: BSL-1.0
// Values that lie between two iterators are a span.
// FAIL: deleted
// FAIL(g++): \[onto\.tensor\] values are a vector or a span
// FAIL(clang++): \[onto\.tensor\] values are a vector or a span
#include <onto/tensor/tensor.hpp>

#include <vector>

std::vector<float> v{1, 2};

#ifdef ONTO_TWIN
onto::tensor<float, onto::dyn> t(std::span(v.begin(), v.end()), {2});
#else
onto::tensor<float, onto::dyn> t(v.begin(), v.end());
#endif
