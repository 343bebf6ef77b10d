// SPDX-License-Identifier: BSL-1.0
// The optimizer is first.
// FAIL: \[onto\.optimizer\] the optimizer is first: minimize\(adam\{\}, loss\)
#include <onto/onto.hpp>

using namespace onto;

const auto w = variable<"w", float, 3>(0.5f);
const auto b = variable<"b", float>(0.5f);
const auto loss = sum(w * w) + b * b;

#ifdef ONTO_TWIN
const auto step = minimize(adam{}, loss);
#else
const auto step = minimize(loss, adam{});
#endif
