// SPDX-License-Identifier: BSL-1.0
// A scalar bool beside numbers: neither ever converts into the other.
// FAIL: scalar_never_converts<.*float.*bool
// FAIL: \[onto\.element\] bool and numbers do not convert into each other
#include <onto/ops/arithmetic.hpp>

#ifdef ONTO_TWIN
#define SCALAR 1
#else
#define SCALAR true
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
auto bad = (a + SCALAR) * 2;
