// SPDX-License-Identifier: BSL-1.0
// long long is no element type where std::int64_t is long.
// FAIL: \[onto\.feed\] the data.s elements, as long long or char, are none of onto.s types; write std::int64_t
#include <onto/onto.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

using namespace onto;

constexpr auto x = placeholder<"x", std::int64_t, dyn>;
#ifdef ONTO_TWIN
const std::vector<std::int64_t> data{1, 2};
#else
const std::vector<std::conditional_t<std::is_same_v<std::int64_t, long>, long long, long>> data{1, 2};
#endif

const auto fed = x = data;
