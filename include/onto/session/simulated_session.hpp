// SPDX-License-Identifier: BSL-1.0
// A session whose tasks are threads of this process: who has it sees one session, and each task has one of its own, as
// a process would.
#pragma once

#include <onto/session/session_runtime.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class process_group;

/// A session of `count` tasks, with the group of each, which it takes over. *Throws* what a task's session throws, and
/// `internal_error` where the system has no threads for them.
ONTO_RUNTIME session_runtime* open_simulated(const session_options& options, const gpu_finder* finders,
                                             process_group* const* adopted, int count);

}  // namespace onto::detail
ONTO_END_RUNS_ONCE

#if ONTO_DEFINITIONS
#include <onto/session/simulated_session_definitions.hpp>
#endif
