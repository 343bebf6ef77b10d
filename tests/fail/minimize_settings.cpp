// SPDX-License-Identifier: BSL-1.0
// Settings stand before the loss.
// FAIL: \[onto\.optimizer\] behind the loss are variables alone, settings are before it: minimize\(adam\{\}, learning_rate\(0\.1\), loss, w\)
#include <onto/onto.hpp>

using namespace onto;

const auto w = variable<"w", float, 3>(0.5f);
const auto loss = sum(w * w);

#ifdef ONTO_TWIN
const auto step = minimize(adam{}, learning_rate(0.1), loss);
#else
const auto step = minimize(adam{}, loss, learning_rate(0.1));
#endif
