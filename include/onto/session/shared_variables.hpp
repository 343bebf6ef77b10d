// SPDX-License-Identifier: BSL-1.0
// Variables of a process that several of its sessions have at the same time, each session with tasks of its own: the
// sessions of a parameter server, one for each of its workers.
#pragma once

#include <onto/runtime/process_group.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The values that such sessions share.
class variable_store : public counted {
 public:
  /// Lets go of all values, before the sessions go whose devices have them.
  virtual void clear() noexcept = 0;
};

ONTO_RUNTIME ref<variable_store> make_variable_store();

/// The store as one more session has it; for its `process_group::shared`.
ONTO_RUNTIME ref<shared_variables> share_variables(const ref<variable_store>& store);

}  // namespace onto::detail
ONTO_END_RUNS_ONCE

#if ONTO_DEFINITIONS
#include <onto/session/shared_variables_definitions.hpp>
#endif
