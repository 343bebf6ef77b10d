// SPDX-License-Identifier: BSL-1.0
// What a program asks for at run time: `on` scopes and guards combined into one request per node, and the values of its
// leaves.
#pragma once

#include <onto/core/arena.hpp>
#include <onto/expr/state.hpp>
#include <onto/plan/node_names.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Per node: the request, and the state of a constant or scalar.
struct program_state {
  place* places = nullptr;
  const state** values = nullptr;
  bool* foreign = nullptr;           // asks for a device that this process cannot have; null where no guard was alive
  std::string_view* text = nullptr;  // the request in words; null where no guard was alive
};

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_two_meanings(const graph_view& g, int node) {
  message m(g[node].name.empty() ? "[onto.guard] " : "[onto.name] '");
  write_name(m, g, node);
  if (!g[node].name.empty())
    fail<invalid_argument_error>(
        m << "' stands for two different things in one program: their values or device guards differ; "
             "rename one of them, or use the same object twice");
  fail<invalid_argument_error>(
      m << " (" << g[node].op->name
        << ") is written twice, under different device guards; equal operations over equal symbols are one "
           "node: keep the expression in a variable and use that, or place it with on<D>(e), which makes two");
}

/// Walks the states of fetched expressions along the graph's visits.
class state_walk {
 public:
  state_walk(const graph_view& g, const state* const* fetched, arena& memory)
      : g_(g), at_(memory.make<const state*>(g.visit_count)) {
    for (int v = 0; v < g.visit_count; ++v) {
      const graph_visit& visit = g.visits[v];
      if (visit.parent < 0) {
        at_[v] = fetched[visit.child];
      } else {
        const state* above = at_[visit.parent];
        at_[v] = above && visit.child < above->child_count ? above->children[visit.child] : nullptr;
      }
      if (at_[v] && at_[v]->guard) guard_ = at_[v]->guard;
    }
  }

  const state* at(int visit) const { return at_[visit]; }

  /// Any guard of the program, or null.
  const guard_scope* guard() const { return guard_; }

  /// *Throws* `invalid_argument_error` where one node has two meanings.
  void check() const {
    for (int v = 0; v < g_.visit_count; ++v) {
      const graph_visit& visit = g_.visits[v];
      if (visit.same_as < 0) continue;
      const state* first = at_[visit.same_as];
      const state* second = at_[v];
      if (g_[visit.node].kind() == op_kind::variable) {
        // With and without its initial value it is the same variable.
        first = first && first->child_count ? first->children[0] : nullptr;
        second = second && second->child_count ? second->children[0] : nullptr;
        if (!first || !second) continue;
      }
      if (!equal_states(first, second)) throw_two_meanings(g_, visit.node);
    }
  }

  /// The scopes around a node, from the outermost in. *Returns* how many.
  int scopes(int node, scope_step* steps) const {
    const graph_node& n = g_[node];
    int count = 0;
    // A constant that is written under a guard is placed by it; symbols are placed by `on` around them alone.
    const bool is_symbol = n.is_leaf() && !(n.kind() == op_kind::constant && !n.request.is_set());
    if (n.is_leaf() && n.request.is_set()) steps[count++] = {nullptr, n.request};
    if (is_symbol) return count;
    for (int v = n.visit; v >= 0; v = g_.visits[v].parent) {
      const place scope = g_.visits[v].scope;
      if (v != n.visit && (!scope.is_set() || n.is_leaf())) continue;
      steps[count++] = {at_[v] ? at_[v]->guard : nullptr, v == n.visit ? place{} : scope};
    }
    for (int k = 0; k < count / 2; ++k) {
      const scope_step s = steps[k];
      steps[k] = steps[count - 1 - k];
      steps[count - 1 - k] = s;
    }
    return count;
  }

 private:
  const graph_view& g_;
  const state** at_;
  const guard_scope* guard_ = nullptr;
};

/// *Throws* `invalid_argument_error` where one node has two meanings.
inline program_state resolve_state(const graph_view& g, const state* const* fetched, arena& memory) {
  program_state p;
  p.places = memory.make<place>(g.count);
  p.values = memory.make<const state*>(g.count);
  for (int n = 0; n < g.count; ++n) p.places[n] = g[n].request;
  bool any = false;
  for (int k = 0; k < g.fetch_count; ++k) any = any || fetched[k];
  if (!any) return p;

  const state_walk walk(g, fetched, memory);
  walk.check();
  for (int n = 0; n < g.count; ++n) p.values[n] = walk.at(g[n].visit);
  if (!walk.guard()) return p;

  p.foreign = memory.make<bool>(g.count);
  p.text = memory.make<std::string_view>(g.count);
  auto* steps = memory.make<scope_step>(g.visit_count + 1);
  for (int n = 0; n < g.count; ++n) {
    scope_request r;
    walk.guard()->combine(steps, walk.scopes(n, steps), r);
    p.places[n] = r.where;
    p.foreign[n] = r.foreign;
    p.text[n] = {memory.copy(r.text.data(), static_cast<int>(r.text.size())), r.text.size()};
  }
  return p;
}

/// The state of a variable somewhere under a fetched expression, or null.
ONTO_COLD inline const state* variable_state(const graph_view& g, const state* fetched, std::uint64_t id) {
  arena memory;
  const state* const list[] = {fetched};
  const state_walk walk(g, list, memory);
  for (int v = 0; v < g.visit_count; ++v) {
    const graph_visit& visit = g.visits[v];
    if (visit.node < 0 || !walk.at(v) || g[visit.node].id != id) continue;
    if (g[visit.node].visit == v || visit.same_as == g[visit.node].visit) return walk.at(v);
  }
  return nullptr;
}

/// `/device:GPU:0`, the name of a place as a request.
ONTO_COLD ONTO_NOINLINE inline message& operator<<(message& m, const place& p) {
  if (p.is_set()) {
    m << (p.kind == device_kind::gpu ? "/device:GPU:" : "/device:CPU:");
    if (p.index < 0)
      m << "*";
    else
      m << p.index;
  }
  return m;
}

/// The full name of a device of this process.
ONTO_COLD inline message& write_device(message& m, const place& p) {
  return m << "/job:localhost/replica:0/task:0" << p;
}

/// Writes what node `n` asks for.
ONTO_COLD inline message& write_request(message& m, const program_state& p, int n) {
  return p.text ? m << p.text[n] : m << p.places[n];
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
