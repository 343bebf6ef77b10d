// SPDX-License-Identifier: BSL-1.0
// A task is of a job.
// FAIL: \[onto\.device\] a task is of a job
#include <onto/device/task.hpp>

#ifdef ONTO_TWIN
constexpr auto p = onto::task<"worker", 0>::value;
#else
constexpr auto p = onto::task<"", 0>::value;
#endif
