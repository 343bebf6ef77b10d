// SPDX-License-Identifier: BSL-1.0
// A condition that is not bool.
// FAIL: element_type_not_supported<.*onto::op::where.*float.*float.*float
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
