// SPDX-License-Identifier: BSL-1.0
// Data among what is fetched is a constant.
// FAIL: \[onto\.run\] .* among what is fetched it is constant\(t\)
#include <onto/onto.hpp>

const onto::tensor<float, 3> t{1, 2, 3};

#ifdef ONTO_TWIN
const auto several = fetches(sum(t), onto::constant(t));
#else
const auto several = fetches(sum(t), t);
#endif
