// SPDX-License-Identifier: BSL-1.0
// A number in the type that the elements beside it do not have.
// LINES: 11
// FAIL: \[onto\.element\] the number does not fit the elements beside it
#include <onto/ops/arithmetic.hpp>

#ifdef ONTO_TWIN
#define NUMBER 255_c
#else
#define NUMBER 256_c
#endif

using namespace onto;

constexpr auto pixels = placeholder<"pixels", std::uint8_t, 2>;
constexpr auto bad = pixels + NUMBER;
