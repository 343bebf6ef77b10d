// SPDX-License-Identifier: BSL-1.0
// A condition that is not bool.
// FAIL: condition_is_of_numbers<.*float
// FAIL: \[onto\.element\] where chooses by truth values
#include <onto/ops/compare.hpp>
#include <onto/ops/logic.hpp>

#ifdef ONTO_TWIN
#define CONDITION a > 0
#else
#define CONDITION a
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
auto bad = where(CONDITION, a, a);
