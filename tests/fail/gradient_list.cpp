// SPDX-License-Identifier: BSL-1.0
// By what gradients are is no list.
// FAIL: \[onto\.gradient\] gradient\(loss, w\) is by one; by several gradients\(loss, w, b\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 2>(0_c);
constexpr auto b = variable<"b", float, 2>(0_c);
#ifdef ONTO_TWIN
const auto good = gradients(sum(w * b), w, b);
const auto better = gradient(sum(w), w);
#else
const auto bad = gradients(sum(w * b), {w, b});
#endif
