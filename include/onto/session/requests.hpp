// SPDX-License-Identifier: BSL-1.0
// What a program asks for at run time: `on` scopes and guards combined into one request per node, and the values of its
// leaves.
#pragma once

#include <onto/session/refinement.hpp>

// Each run that values decide passes through, so optimized.
namespace onto::detail {

/// Per node: the request, and the state of a constant or scalar.
struct program_state {
  place* places = nullptr;
  const state** values = nullptr;
  bool* foreign = nullptr;           // asks for a device that no process can have; null where no guard was alive
  std::string_view* text = nullptr;  // the request in words; null where no guard was alive

  program_state() = default;
  program_state(int nodes, bool guards, arena& memory)
      : places(memory.make<place>(nodes)), values(memory.make<const state*>(nodes)) {
    if (!guards) return;
    foreign = memory.make<bool>(nodes);
    text = memory.make<std::string_view>(nodes);
  }

  void set(int node, const refined_node& r) {
    places[node] = r.request.where;
    values[node] = r.values;
    if (!text) return;
    foreign[node] = r.request.foreign;
    text[node] = r.request.text;
  }
};

/// What the nodes of a graph ask for, where no expression has a state: neither values nor guards.
inline program_state stateless(const graph_view& g, arena& memory) {
  program_state p(g.count, false, memory);
  for (int n = 0; n < g.count; ++n) p.places[n] = g.nodes[n].request;
  return p;
}

/// What the nodes of a graph ask for and hold, where each of them is one.
inline program_state typed_state(const graph_view& g, const refinement& r, arena& memory) {
  program_state p(g.count, r.has_guards(), memory);
  const bool refined = r.nodes.size > 0;
  for (int n = 0; n < g.count && refined; ++n) p.set(n, r.nodes.items[n]);
  for (int n = 0; n < g.count && !refined; ++n) {
    p.places[n] = g.nodes[n].request;
    p.values[n] = r.states[g.nodes[n].visit];
  }
  return p;
}

}  // namespace onto::detail

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// `/device:GPU:0`, the name of a place as a request; `/job:worker/task:1/device:GPU:0`.
ONTO_COLD ONTO_NOINLINE inline message& operator<<(message& m, const place& p) {
  if (p.in_task && !p.task->job.empty()) m << "/job:" << p.task->job;
  if (p.in_task && p.task->task >= 0) m << "/task:" << p.task->task;
  if (p.kind != device_kind::none) {
    m << (p.kind == device_kind::gpu ? "/device:GPU:" : "/device:CPU:");
    if (p.index < 0)
      m << "*";
    else
      m << p.index;
  }
  return m;
}

/// The full name of a device.
ONTO_COLD inline message& write_device(message& m, const place& p) {
  m << "/job:" << (p.in_task ? p.task->job : "localhost") << "/replica:0/task:" << (p.in_task ? p.task->task : 0);
  return m << place{p.kind, p.index};
}

/// Writes what node `n` asks for.
ONTO_COLD inline message& write_request(message& m, const program_state& p, int n) {
  return p.text ? m << p.text[n] : m << p.places[n];
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
