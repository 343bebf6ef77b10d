// SPDX-License-Identifier: BSL-1.0
// A matrix that says that it lies column by column is not read as rows; by its extents alone it would fit.
// FAIL: \[onto\.feed\] the matrix does not lie row by row without gaps; feed a row-major one
#include <onto/onto.hpp>

#include "matrix.hpp"

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
#ifdef ONTO_TWIN
const matrix<float, true> data(2, 3);
#else
const matrix<float, false> data(2, 3);
#endif

const auto fed = x = data;
