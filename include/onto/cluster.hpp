// SPDX-License-Identifier: BSL-1.0
// Programs over several processes, on MPI: every process is a task of a cluster and runs the same program. Compile with
// `mpicxx`, or link `onto::cluster`; start with `mpirun -n 3 ./program`.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/backend/cluster/server.hpp>
#include <onto/session/together.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {
inline namespace ONTO_ABI {

inline session::session(server& node, session_options options)
    : core_(detail::open_together(options, detail::gpu_finders, node.join(options.timeout))) {}

}  // namespace ONTO_ABI
}  // namespace onto
ONTO_END_RUNS_ONCE

ONTO_END_HEADER
