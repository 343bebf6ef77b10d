// SPDX-License-Identifier: BSL-1.0
// A plan for people: its steps as text, its graph as a picture.
#pragma once

#include <onto/plan/node_names.hpp>
#include <onto/plan/plan.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

namespace detail {

/// What text and picture need of a plan, whatever its sizes.
struct plan_view {
  graph_view graph;
  const node_placement* placement;
  const int* unit;
  const plan_step* steps;
  int step_count;
  const plan_value* values;
};

ONTO_COLD inline void write_place(message& m, const place& p) {
  if (!p.is_set())
    m << "nowhere";
  else
    m << (p.kind == device_kind::gpu ? "gpu:" : "cpu:") << p.index;
}

ONTO_COLD inline void write_value(message& m, const graph_view& g, int node) {
  write_name(m, g, node);
  m << " " << name_of(g[node].type) << g[node].shape;
}

/// The operations of a kernel, in order: `Mul, Add, Relu`.
ONTO_COLD inline void write_members(message& m, const plan_view& p, int unit) {
  const char* comma = "";
  for (int n = 0; n < p.graph.count; ++n) {
    if (p.unit[n] != unit) continue;
    m << comma << p.graph[n].op->name;
    comma = ", ";
  }
}

ONTO_COLD ONTO_NOINLINE inline std::string plan_text(const plan_view& p) {
  message m;
  for (int k = 0; k < p.step_count; ++k) {
    const plan_step& s = p.steps[k];
    m << (k + 1) << ". ";
    if (s.kind == step_kind::transfer) {
      m << "transfer ";
      write_value(m, p.graph, s.node);
      m << " from ";
      write_place(m, s.from);
      m << " to ";
      write_place(m, s.at);
      if (p.values[s.value].bytes >= 0) m << ", " << p.values[s.value].bytes << " bytes";
      if (p.values[s.value].fetch >= 0) m << ", result " << p.values[s.value].fetch;
    } else if (s.kind == step_kind::deliver) {
      m << "copy ";
      write_value(m, p.graph, s.node);
      m << " to result " << s.fetch;
    } else {
      m << "kernel on ";
      write_place(m, s.at);
      m << ": ";
      write_value(m, p.graph, s.node);
      m << " = ";
      write_members(m, p, s.node);
      if (p.values[s.value].fetch >= 0) m << ", result " << p.values[s.value].fetch;
    }
    m << "\n";
  }
  return m.text();
}

ONTO_COLD inline std::string_view color_of(const place& p) {
  constexpr std::string_view gpus[] = {"palegreen", "lightskyblue", "khaki", "plum", "lightsalmon", "paleturquoise"};
  return p.kind == device_kind::gpu ? gpus[p.index % 6] : std::string_view("lightgray");
}

ONTO_COLD ONTO_NOINLINE inline std::string plan_dot(const plan_view& p) {
  const graph_view& g = p.graph;
  message m("digraph plan {\n  node [style=filled, shape=box];\n");
  // A box around what runs as one kernel.
  for (int u = 0; u < g.count; ++u) {
    if (p.unit[u] != u) continue;
    m << "  subgraph cluster_" << u << " { label=\"";
    write_place(m, p.placement[u].where);
    m << "\";";
    for (int n = 0; n < g.count; ++n)
      if (p.unit[n] == u) m << " n" << n << ";";
    m << " }\n";
  }
  for (int n = 0; n < g.count; ++n) {
    if (g[n].kind() == op_kind::scalar) continue;
    m << "  n" << n << " [label=\"";
    write_name(m, g, n);
    m << "\\n" << name_of(g[n].type) << g[n].shape << "\", fillcolor=" << color_of(p.placement[n].where);
    if (g[n].is_leaf()) m << ", shape=ellipse";
    m << "];\n";
  }
  for (int n = 0; n < g.count; ++n) {
    for (int k = 0; k < g[n].count; ++k) {
      const int o = g.operand(n, k);
      if (g[o].kind() == op_kind::scalar) continue;
      m << "  n" << o << " -> n" << n;
      if (!(p.placement[o].where == p.placement[n].where)) m << " [color=red, label=\"copy\"]";
      m << ";\n";
    }
  }
  for (int k = 0; k < g.fetch_count; ++k)
    m << "  r" << k << " [label=\"result " << k << "\", shape=plaintext];\n  n" << g.fetches[k] << " -> r" << k
      << ";\n";
  return (m << "}\n").text();
}

}  // namespace detail

template <int Nodes, int Steps, int Values, int Devices>
std::string plan<Nodes, Steps, Values, Devices>::text() const {
  return detail::plan_text({graph, placement, unit, steps, step_count, values});
}

template <int Nodes, int Steps, int Values, int Devices>
std::string plan<Nodes, Steps, Values, Devices>::dot() const {
  return detail::plan_dot({graph, placement, unit, steps, step_count, values});
}

}  // namespace onto

ONTO_END_RUNS_ONCE
