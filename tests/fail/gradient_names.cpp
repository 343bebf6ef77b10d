// SPDX-License-Identifier: BSL-1.0
// A gradient is by a variable, not by its name.
// FAIL: \[onto\.gradient\] a gradient is by the variable itself, not by its name: gradient\(loss, w\), gradients\(loss, w, b\)
#include <onto/onto.hpp>

using namespace onto;

const auto w = variable<"w", float, 3>(0.5f);
const auto loss = sum(w * w);

#ifdef ONTO_TWIN
const auto g = gradients(loss, w);
#else
const auto g = gradients(loss, "w");
#endif
