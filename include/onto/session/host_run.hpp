// SPDX-License-Identifier: BSL-1.0
// A run of a program that is bound for the CPU alone and changes nothing but its results: feeds in, kernels, results
// out. Most runs are such, so it is optimized in every program; session/execute.hpp does the others.
#pragma once

#include <onto/session/call_addresses.hpp>
#include <onto/session/prepared_program.hpp>
#include <onto/session/staged_results.hpp>

#include <cstdint>
#include <exception>

namespace onto::detail {

/// Finds the feeds and constants of a run. `values`: per node, the state of a scalar or constant. *Returns* whether the
/// program is bound for their shapes, and all have values. *Preconditions* `b.plain`, and this run has it.
ONTO_NOINLINE inline bool take_leaves(bound_program& b, const run_request& r, const state* const* values) {
  const graph_view& g = b.program->graph;
  b.scalars = values;
  for (int k = 0; k < b.leaf_count; ++k) {
    const int n = b.leaves[k];
    const void* data = nullptr;
    if (g[n].kind() == op_kind::placeholder) {
      int f = 0;
      while (f < r.feed_count && r.feeds[f]->id != g[n].id) ++f;
      if (f == r.feed_count || !(r.feeds[f]->shape == b.leaf_shapes[n])) return false;
      data = r.feeds[f]->data;
    } else {
      if (!(shape_of(*values[n]) == b.leaf_shapes[n])) return false;
      data = values_of(*values[n]);
    }
    if (!data) return false;
    b.leaf[n].data = const_cast<void*>(data);
  }
  return true;
}

/// Runs the kernels on `threads`. *Returns* how many there were. *Throws* what one throws, with its name.
ONTO_NOINLINE inline std::int64_t run_kernels(bound_program& b, kernel_context& threads) {
  const call_addresses where{b.program->graph, b.address, b.leaf, b.scalars, b.shapes};
  std::int64_t kernels = 0;
  const bound_step* s = b.steps;
  try {
    for (const bound_step* const end = s + b.counts.steps; s < end; ++s)
      for_each_launch(*s, where, [&](const bound_call& c) {
        s->kernel->launch[kernel_entry::host].run(threads, c.call);
        kernels += c.call.continues ? 0 : 1;
      });
  } catch (...) {
    std::rethrow_exception(named_failure(s->label, s->step.at));
  }
  ++b.runs;
  return kernels;
}

/// A run of what has its leaves, on the CPU of a session. *Throws* as `session::run`.
inline void run_on_host(bound_program& b, const run_request& r, device& cpu) {
  staged_results results(r, {b.program->graph, b.shapes, b.bytes, b.leaf, b.leaves, b.leaf_count, b.results});
  for (int k = 0; k < b.moving_count; ++k) {
    const int v = b.moving[k];
    b.address[v].data = b.results[b.values[v].fetch].data;
  }
  cpu.counters.kernels.fetch_add(run_kernels(b, *cpu.host_context()), memory_order_relaxed);
  results.deliver();
}

/// Runs a prepared program. *Returns* false, having done nothing, where it is not bound for what is fed.
inline bool run_on_host(prepared_program& p, const run_request& r, device& cpu) {
  const mutex_lock one(p.busy);
  bound_program* b = p.bound;
  while (b && !(b->plain && b->runs > 0 && take_leaves(*b, r, p.of.state.values))) b = b->next;
  if (b) run_on_host(*b, r, cpu);
  return b != nullptr;
}

}  // namespace onto::detail
