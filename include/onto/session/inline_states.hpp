// SPDX-License-Identifier: BSL-1.0
// What a program that runs without a session takes of its process: threads, and no device but the CPU, whatever a guard
// may ask for.
#pragma once

#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/expr/state.hpp>
#include <onto/graph/graph.hpp>
#include <onto/graph/kernels.hpp>
#if ONTO_DEFINITIONS
#include <onto/core/message.hpp>
#include <onto/session/visit_states.hpp>
#endif

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The threads of all that is evaluated without a session.
ONTO_RUNTIME thread_pool& host_threads();

/// *Throws* `invalid_argument_error` where an operation was written under a guard that asks for another device than
/// `cpu<0>`. `fetched`: the states of what is fetched.
ONTO_RUNTIME void expect_host_guards(const graph_view& g, const state* const* fetched);

/// *Throws* the exception being handled with the name of the kernel that threw it, as a session does.
[[noreturn]] ONTO_COLD ONTO_RUNTIME void rethrow_named(const graph_view& g, const kernel_partition& kernels, int root);

#if ONTO_DEFINITIONS
ONTO_RUNTIME thread_pool& host_threads() {
  static thread_pool threads(0);
  return threads;
}

ONTO_COLD ONTO_RUNTIME void expect_host_guards(const graph_view& g, const state* const* fetched) {
  arena memory;
  arena_list<const state*> guarded{};  // each once
  const auto add = [&](const state* s) {
    bool known = !s || !s->guards;
    for (int j = 0; j < guarded.size && !known; ++j) known = guarded[j] == s;
    if (!known) guarded.push_back(memory, s);
  };
  for (int k = 0; k < g.fetch_count; ++k) add(fetched[k]);
  for (int k = 0; k < guarded.size; ++k) {
    for (int c = 0; c < guarded[k]->child_count; ++c) add(guarded[k]->children[c]);
    if (!guarded[k]->guard) continue;
    const scope_step step{guarded[k]->guard, {}};
    scope_request asked;
    step.guard->combine(&step, 1, asked);
    const bool here = !asked.where.is_set() || (asked.where.kind == device_kind::cpu && asked.where.index <= 0);
    if (asked.foreign || !here)
      fail<invalid_argument_error>(message("[onto.run] evaluate runs on cpu<0>, and a device_guard asks for ")
                                   << asked.text << "; write session sess; sess.run(e)");
  }
}
#endif

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
