// SPDX-License-Identifier: BSL-1.0
// What a program means with the values that its expressions hold: the compiled program, or one whose nodes they tell
// apart, made once for each way in which they do.
#pragma once

#include <onto/core/mutex.hpp>
#include <onto/session/refined_program.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What a program comes to with the values that its expressions hold.
struct meaning {
  const compiled_program* program = nullptr;
  ref<refined_program> refined;  // where it is that one
  program_state state;
};

/// The refined programs of a session.
class refined_programs {
 public:
  /// Finds out which nodes a program has, and what they ask for and hold. `states` are of the fetched expressions.
  /// *Throws* `invalid_argument_error` where one name has two meanings.
  ONTO_NOINLINE meaning resolve(const compiled_program& p, const state* const* states, arena& memory) {
    meaning m;
    m.program = &p;
    bool any = false;
    for (int k = 0; k < p.graph.fetch_count; ++k) any = any || states[k];
    if (!any) {
      m.state = stateless(p.graph, memory);
      return m;
    }
    const refinement nodes(p.graph, states, memory);
    if (nodes.is_typed()) {
      m.state = typed_state(p.graph, nodes, memory);
    } else {
      m.refined = find(p, nodes);
      m.program = &m.refined->program();
      m.state = m.refined->state_of(nodes, memory);
    }
    return m;
  }

 private:
  ONTO_COLD ONTO_NOINLINE ref<refined_program> find(const compiled_program& p, const refinement& nodes) {
    {
      const mutex_lock lock(mutex_);
      for (const ref<refined_program>& known : programs_)
        if (known && known->is_for(p, nodes)) return known;
    }
    ref<refined_program> made(p.values_decide->rewrite(p, nodes));
    const mutex_lock lock(mutex_);
    programs_[next_++ % remembered] = made;
    return made;
  }

  static constexpr int remembered = 64;  // what was made first goes first

  mutex mutex_;
  ref<refined_program> programs_[remembered];
  unsigned next_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
