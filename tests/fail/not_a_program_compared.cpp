// SPDX-License-Identifier: BSL-1.0
// Two tensors compared are one bool, which is there without a run.
// FAIL: \[onto\.element\] t == u of two tensors is one bool; write constant\(t\) == u for one of each element
#include <onto/onto.hpp>

using namespace onto;

const tensor<float, 3> t{1, 2, 3}, u{1, 0, 3};

#ifdef ONTO_TWIN
const auto same = evaluate(constant(t) == u);
#else
const auto same = evaluate(t == u);
#endif
