// SPDX-License-Identifier: BSL-1.0
// A seed is an integer, or one integer that the run knows.
// FAIL: a seed is an integer, or an expression of one
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
inline constexpr auto seed = placeholder<"seed", std::int64_t>;
#else
inline constexpr auto seed = placeholder<"seed", std::int64_t, 3>;
#endif

const auto y = random_normal<float, 3>(seed);
