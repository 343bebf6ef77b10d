// SPDX-License-Identifier: BSL-1.0
// A number with a fraction beside integers: refused whatever its value, 2.0 too.
// FAIL: fraction_beside_integers<.*int.*double
// FAIL: \[onto\.element\] a floating number beside a tensor of integers
#include <onto/ops/arithmetic.hpp>

#ifdef ONTO_TWIN
#define SCALAR 2
#else
#define SCALAR 2.0
#endif

using namespace onto;

constexpr auto i = placeholder<"i", std::int32_t, 2>;
auto bad = i * SCALAR + i;
