// SPDX-License-Identifier: BSL-1.0
// One gradient is by one; several are a tuple.
// FAIL: \[onto\.gradient\] gradient\(loss, w\) is by one; by several gradients\(loss, w, b\)
#include <onto/onto.hpp>

using namespace onto;

const auto w = variable<"w", float, 3>(0.5f);
const auto b = variable<"b", float>(0.5f);
const auto loss = sum(w * w) + b * b;

#ifdef ONTO_TWIN
const auto g = gradients(loss, w, b);
#else
const auto g = gradient(loss, w, b);
#endif
