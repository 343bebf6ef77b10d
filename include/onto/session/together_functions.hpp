// SPDX-License-Identifier: BSL-1.0
// What a session does beside running where there are other processes, behind pointers: programs of one process hold
// nothing of it.
#pragma once

#include <onto/runtime/process_group.hpp>
#include <onto/session/prepared_program.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class session_core;

/// `session/together_definitions.hpp` has them.
struct together_functions {
  program_identity (*identity_of)(const meaning& m);
  bool (*is_fed_well)(const graph_node& n, const run_request& r);
  void (*hear_shapes)(session_core& s, const run_request& r, const meaning& m, run_leaves& leaves, agreed_run& all);
  ref<prepared_program> (*prepare)(session_core& s, const compiled_program& program, const state* const* states);
  void (*take_turn)(session_core& s);
  void (*keep)(const session_core& s, bound_program* b);
  task_scheduling scheduling;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
