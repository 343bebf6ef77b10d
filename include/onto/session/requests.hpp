// SPDX-License-Identifier: BSL-1.0
// What a program asks for at run time: `on` scopes and guards combined into one request per node, and the values of its leaves.
#pragma once

#include <onto/core/error.hpp>
#include <onto/device/device_name.hpp>
#include <onto/expr/state.hpp>
#include <onto/graph/graph.hpp>
#include <onto/plan/node_names.hpp>

#include <string>
#include <vector>

namespace onto::detail {

/// Per node: the request, and the state of a constant or scalar.
struct program_state {
  std::vector<device_name> requests;
  std::vector<place> places;
  std::vector<unsigned char> foreign;  // asks for a device that this process cannot have
  std::vector<const state*> values;
  bool guarded = false;
};

/// Scopes on the way down to a node: what they ask for together, and which guards have had their say.
struct scope_context {
  device_name name;
  std::vector<const guard_scope*> applied;

  ONTO_COLD void apply(const guard_scope* g) {
    if (!g) return;
    for (const guard_scope* a : applied)
      if (a == g) return;
    apply(g->outer.get());
    name = g->cut ? device_name{} : name.merge(g->name);
    applied.push_back(g);
  }
};

ONTO_COLD inline bool is_foreign(const device_name& d) {
  if (!d.job().empty() && d.job() != "localhost") return true;
  if (d.replica() > 0 || d.task() > 0) return true;
  return !d.kind().empty() && d.kind() != "CPU" && d.kind() != "GPU";
}

[[noreturn]] ONTO_COLD inline void throw_two_meanings(const graph_view& g, int node) {
  const std::string name = node_names(g)[static_cast<std::size_t>(node)];
  if (!g[node].name.empty())
    throw invalid_argument_error("[onto.name] '" + name +
                                 "' stands for two different things in one program: their values or device guards differ; rename one "
                                 "of them, or use the same object twice");
  throw invalid_argument_error("[onto.guard] " + name + " (" + std::string(g[node].op->name) +
                               ") is written twice, under different device guards; equal operations over equal symbols are one node: "
                               "keep it in a variable, or give one a name with named<\"h\">(e)");
}

/// Walks the states of the fetched expressions. *Throws* `invalid_argument_error` where one node has two meanings.
ONTO_COLD inline program_state resolve_state(const graph_view& g, const state* const* fetched) {
  const auto count = static_cast<std::size_t>(g.count);
  program_state p;
  p.values.resize(count);
  p.places.resize(count);
  for (int n = 0; n < g.count; ++n) p.places[static_cast<std::size_t>(n)] = g[n].request;
  bool any = false;
  for (int k = 0; k < g.fetch_count; ++k) any = any || fetched[k];
  if (!any) return p;

  const auto visits = static_cast<std::size_t>(g.visit_count);
  std::vector<const state*> at(visits);
  std::vector<scope_context> context(visits);
  std::vector<device_name> requests(count);
  for (std::size_t v = 0; v < visits; ++v) {
    const graph_visit& visit = g.visits[v];
    const auto parent = static_cast<std::size_t>(visit.parent);
    if (visit.parent < 0) {
      at[v] = fetched[visit.child];
    } else {
      const state* above = at[parent];
      const auto child = static_cast<std::size_t>(visit.child);
      at[v] = above && child < above->children.size() ? above->children[child].get() : nullptr;
      context[v] = context[parent];
    }
    const guard_scope* guard = at[v] ? at[v]->guard.get() : nullptr;
    if (guard) p.guarded = true;
    if (visit.scope.is_set()) {
      context[v].apply(guard);
      context[v].name = context[v].name.merge(device_name(visit.scope));
      continue;
    }
    if (visit.node < 0) continue;
    const graph_node& node = g[visit.node];
    if (visit.same_as >= 0) {
      const state* first = at[static_cast<std::size_t>(visit.same_as)];
      if (first != at[v] && !equal_states(first, at[v])) throw_two_meanings(g, visit.node);
      continue;
    }
    if (node.visit != static_cast<int>(v)) continue;
    const auto n = static_cast<std::size_t>(visit.node);
    p.values[n] = at[v];
    scope_context mine = node.is_leaf() ? scope_context{} : context[v];
    if (node.is_leaf() && node.request.is_set()) mine.name = device_name(node.request);
    // A constant that was written under a guard is placed by it; symbols are placed by `on` around them alone.
    if (!node.is_leaf() || (node.kind() == op_kind::constant && !node.request.is_set())) mine.apply(guard);
    requests[n] = mine.name;
  }
  if (!p.guarded) return p;

  p.requests = static_cast<std::vector<device_name>&&>(requests);
  p.foreign.resize(count);
  for (std::size_t n = 0; n < count; ++n) {
    p.foreign[n] = is_foreign(p.requests[n]) ? 1 : 0;
    p.places[n] = p.foreign[n] ? place{} : p.requests[n].to_place();
  }
  return p;
}

/// The state of a variable somewhere under a fetched expression.
ONTO_COLD inline const state* variable_state(const graph_view& g, const state* fetched, std::uint64_t id) {
  std::vector<const state*> at(static_cast<std::size_t>(g.visit_count));
  for (std::size_t v = 0; v < at.size(); ++v) {
    const graph_visit& visit = g.visits[v];
    if (visit.parent < 0) {
      at[v] = fetched;
    } else {
      const state* above = at[static_cast<std::size_t>(visit.parent)];
      const auto child = static_cast<std::size_t>(visit.child);
      at[v] = above && child < above->children.size() ? above->children[child].get() : nullptr;
    }
    if (visit.node >= 0 && at[v] && g[visit.node].kind() == op_kind::variable && g[visit.node].id == id && !visit.scope.is_set())
      return at[v];
  }
  return nullptr;
}

/// What node `n` asks for, in words.
ONTO_COLD inline std::string request_text(const program_state& p, int n) {
  const auto k = static_cast<std::size_t>(n);
  return (p.requests.empty() ? device_name(p.places[k]) : p.requests[k]).to_string();
}

}  // namespace onto::detail
