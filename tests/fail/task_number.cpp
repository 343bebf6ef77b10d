// SPDX-License-Identifier: BSL-1.0
// A task is one of its job's.
// FAIL: \[onto\.device\] a task has a number in its job; give it
#include <onto/device/task.hpp>

#ifdef ONTO_TWIN
constexpr auto p = onto::task<"worker", 0>::value;
#else
constexpr auto p = onto::task<"worker">::value;
#endif
