// SPDX-License-Identifier: BSL-1.0
// What a session does beside running where other processes run the same programs: it opens with the devices of all,
// says what its programs are and what shapes its feeds have, and keeps the order of runs.
#pragma once

#include <onto/session/session_runtime.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class process_group;

/// A session of the processes of a group, which it takes over: all of them open it. *Throws*, in all processes,
/// `invalid_argument_error` for options that make no sense, `failed_precondition_error` for options that differ.
ONTO_RUNTIME ref<session_runtime> open_together(session_options& options, const gpu_finder* finders,
                                                process_group* adopted);

}  // namespace onto::detail
ONTO_END_RUNS_ONCE

#if ONTO_DEFINITIONS
#include <onto/session/together_definitions.hpp>
#endif
