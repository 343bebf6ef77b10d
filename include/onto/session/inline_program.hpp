// SPDX-License-Identifier: BSL-1.0
// A program whose plan is a constant, run where it is called: every call of a kernel is there but for addresses.
#pragma once

#include <onto/session/bound_call.hpp>
#include <onto/session/inline_states.hpp>
#include <onto/session/session_runtime.hpp>
#if ONTO_DEFINITIONS
#include <onto/session/call_addresses.hpp>
#include <onto/session/feeds.hpp>
#include <onto/session/staged_results.hpp>
#include <onto/session/step_labels.hpp>
#include <onto/session/visit_states.hpp>
#include <onto/tensor/storage.hpp>
#endif

namespace onto::detail {

/// A call of a kernel as a constant. What it points at is numbered in the program's tables.
struct inline_call {
  bound_call bound;
  int step = 0;
  int number = 0;  // among those of the step
  int views = 0;
  int rolls = 0;
  int scalars = 0;
  int shapes = -1;
  int op = -1;  // -1: as `bound` has it
};

/// All of a program on this process's CPU.
struct inline_program {
  graph_view graph;
  kernel_partition units;
  const kernel_entry* kernels;  // per root
  const half_kernels* half_precision;
  bool values_decide;
  void (*expect_one_meaning)(const graph_view& g, const state* const* fetched);  // null: names tell nothing apart
  const plan_step* steps;
  int step_count;
  const plan_value* values;
  int value_count;
  const inline_call* calls;
  int call_count;
  const operand_view* views;
  const operand_source* sources;
  const int* rolls;
  const int* scalars;
  const extents* shapes;
  const op_info* ops;
  std::int64_t block_bytes;  // of all that is in between
};

/// Runs it. *Returns* false, having done nothing, where values tell nodes apart that the plan has as one.
ONTO_RUNTIME bool run_inline(const inline_program& p, const run_request& r);

#if ONTO_DEFINITIONS
/// The leaves of a run: where they are, and the states of scalars.
struct inline_leaves {
  host_slot* data;
  const state** values;  // per node
  extents* shapes;
  int* list;  // placeholders and constants
  int count = 0;

  inline_leaves(const graph_view& g, arena& memory)
      : data(memory.make<host_slot>(g.count)),
        values(memory.make<const state*>(g.count)),
        shapes(memory.make<extents>(g.count)),
        list(memory.make<int>(g.count)) {}

  /// *Returns* whether each node is one.
  bool find_states(const graph_view& g, const state* const* fetched, arena& memory) {
    const visit_states found(g, fetched, memory);
    if (found.guarded) expect_host_guards(g, fetched);
    values = found.values;
    return found.one;
  }

  void find_data(const graph_view& g, const run_request& r) {
    for (int n = 0; n < g.count; ++n) {
      shapes[n] = g[n].shape;
      if (g[n].kind() == op_kind::placeholder) {
        data[n].data = const_cast<void*>(feed_for(g[n], r).data);
        list[count++] = n;
      } else if (g[n].kind() == op_kind::constant) {
        if (!(shape_of(*values[n]) == g[n].shape)) throw_moved_from();
        data[n].data = const_cast<void*>(values_of(*values[n]));
        list[count++] = n;
      }
    }
  }
};

/// Makes one call.
inline void run_inline_call(const inline_program& p, const inline_call& call, const call_addresses& at, arena& memory) {
  const plan_step& step = p.steps[call.step];
  bound_call c = call.bound;
  c.views = memory.copy(p.views + call.views, c.call.inputs);
  for (int k = 0; c.call.rolls && k < c.call.inputs; ++k) c.views[k].rolled = p.rolls + call.rolls + k * max_rank;
  c.sources = const_cast<operand_source*>(p.sources + call.views);
  c.scalars = const_cast<int*>(p.scalars + call.scalars);
  c.bits = memory.make<std::uint64_t>(c.scalar_count);
  c.call.scalars = c.bits;
  c.more = memory.make<operand_view>(c.call.more_outputs);
  c.call.more_out = c.more;
  for (int k = 0; k < c.call.more_outputs; ++k) c.more[k].type = p.graph[p.values[step.value + 1 + k].node].type;
  c.call.half_precision = p.half_precision;
  if (call.shapes >= 0) c.call.shapes = p.shapes + call.shapes;
  if (call.op >= 0) c.call.op = p.ops + call.op;
  at.fill(c, step, call.number);
  p.kernels[step.node].launch[kernel_entry::host].run(host_threads(), c.call);
}

inline void run_inline_steps(const inline_program& p, const host_memory& m, const state* const* values,
                             std::int64_t block_bytes, char* block, arena& memory) {
  auto* const address = memory.make<host_slot>(p.value_count);
  for (int v = 0; v < p.value_count; ++v) {
    const plan_value& x = p.values[v];
    address[v].data = x.fetch >= 0 ? m.results[x.fetch].data : block_bytes > 0 ? block + x.offset : nullptr;
  }
  const call_addresses at{p.graph, address, m.leaf, values, nullptr};
  int call = 0;
  for (int k = 0; k < p.step_count; ++k) {
    const plan_step& step = p.steps[k];
    try {
      if (step.kind == step_kind::fetch_copy) {
        const std::int64_t bytes = p.graph[step.node].shape.size() * size_of(p.graph[step.node].type);
        if (bytes > 0)
          std::memcpy(m.results[step.fetch].data, at.address_of(step.source, step.node, 0),
                      static_cast<std::size_t>(bytes));
      }
      for (; call < p.call_count && p.calls[call].step == k; ++call) run_inline_call(p, p.calls[call], at, memory);
    } catch (...) {
      rethrow_named(p.graph, p.units, step.node);
    }
  }
}

ONTO_RUNTIME bool run_inline(const inline_program& p, const run_request& r) {
  constexpr std::int64_t on_stack = 16384;
  alignas(16) char first[8192];
  arena memory(first, sizeof first);
  const graph_view& g = p.graph;
  inline_leaves leaves(g, memory);
  bool any = false;
  for (int k = 0; k < g.fetch_count; ++k) any = any || r.states[k];
  if (any && !leaves.find_states(g, r.states, memory)) {
    if (p.values_decide) return false;
    if (p.expect_one_meaning) p.expect_one_meaning(g, r.states);
  }
  leaves.find_data(g, r);
  const host_memory m{
      g, leaves.shapes, nullptr, leaves.data, leaves.list, leaves.count, memory.make<host_slot>(g.fetch_count)};
  staged_results results(r, m);
  if (p.block_bytes <= on_stack) {
    alignas(64) char block[on_stack];
    run_inline_steps(p, m, leaves.values, p.block_bytes, block, memory);
  } else {
    storage<char> block(static_cast<std::size_t>(p.block_bytes));
    run_inline_steps(p, m, leaves.values, p.block_bytes, block.data(), memory);
  }
  results.deliver();
  return true;
}
#endif

}  // namespace onto::detail
