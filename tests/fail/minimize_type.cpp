// SPDX-License-Identifier: BSL-1.0
// The optimizer is a value.
// FAIL: \[onto\.optimizer\] the optimizer is a value, not its type: minimize\(adam\{\}, loss\)
#include <onto/onto.hpp>

using namespace onto;

const auto w = variable<"w", float, 3>(0.5f);
const auto loss = sum(w * w);

#ifdef ONTO_TWIN
const auto step = minimize<adam{}>(loss);
#else
const auto step = minimize<adam>(loss);
#endif
