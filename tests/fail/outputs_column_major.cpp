// SPDX-License-Identifier: BSL-1.0
// A result is written row by row: into a column-major matrix of as many elements it would go turned.
// FAIL: output_takes_no_result<
// FAIL: \[onto\.run\] the output .* does not lie row by row
#include <onto/onto.hpp>

#include "matrix.hpp"

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
const tensor<float, 2, 3> values{{1, 2, 3}, {4, 5, 6}};
#ifdef ONTO_TWIN
matrix<float, true> out(2, 3);
#else
matrix<float, false> out(2, 3);
#endif

void compute() { evaluate_to(out, 2 * x, x = values); }
