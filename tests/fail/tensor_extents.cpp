// SPDX-License-Identifier: BSL-1.0
// Extents that the types say must agree.
// FAIL: \[onto\.tensor\] the extents of the two tensor types differ; reshape, or use dyn
#include <onto/tensor/tensor.hpp>

#ifdef ONTO_TWIN
constexpr int columns = 2;
#else
constexpr int columns = 3;
#endif

onto::tensor<float, 2, columns> from;
onto::tensor<float, 2, 2> to(from);
