// SPDX-License-Identifier: BSL-1.0
// A task is 0 or positive.
// FAIL: \[onto\.device\] a task is 0 or positive
#include <onto/device/task.hpp>

#ifdef ONTO_TWIN
constexpr auto p = onto::task<"worker", 0>::value;
#else
constexpr auto p = onto::task<"worker", -1>::value;
#endif
