// SPDX-License-Identifier: BSL-1.0
// Booleans are no numbers: what they add up to is said with a cast.
// FAIL: element_type_not_supported<.*onto::op::scan<
#include <onto/ops/scan.hpp>

#include <cstdint>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto a = placeholder<"a", std::uint8_t, 4, 5>;
#else
constexpr auto a = placeholder<"a", bool, 4, 5>;
#endif
constexpr auto bad = cumsum(a);
