// SPDX-License-Identifier: BSL-1.0
// Data is there without a run.
// FAIL: \[onto\.run\] what runs is an expression, and this is data, whose values are there
#include <onto/onto.hpp>

const onto::tensor<float, 3> t{1, 2, 3};

#ifdef ONTO_TWIN
const auto y = onto::evaluate(sum(t));
#else
const auto y = onto::evaluate(t);
#endif
