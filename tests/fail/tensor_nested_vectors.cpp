// SPDX-License-Identifier: BSL-1.0
// Vectors in a vector do not lie in one piece.
// FAIL: \[onto\.tensor\] vectors in a vector do not lie in one piece
#include <onto/onto.hpp>

#include <vector>

using namespace onto;

std::vector<std::vector<float>> rows;

#ifdef ONTO_TWIN
tensor<float, dyn, dyn> t({2, 3});
#else
tensor<float, dyn, dyn> t(rows);
#endif
