// SPDX-License-Identifier: BSL-1.0
// A number beside a tensor of bool.
// FAIL: scalar_never_converts<.*bool.*int
#include <onto/ops/logic.hpp>

#ifdef ONTO_TWIN
#define SCALAR true
#else
#define SCALAR 1
#endif

using namespace onto;

constexpr auto a = placeholder<"a", bool, 2>;
auto bad = a && SCALAR;
