// SPDX-License-Identifier: BSL-1.0
// Which nodes there are, now that values are known. While compiling, expressions of equal types are one node; here a
// node becomes as many as there are values under it: value numbering over the states of the fetched expressions.
#pragma once

#include <onto/plan/node_names.hpp>
#include <onto/session/visit_states.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

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

}  // namespace onto::detail
ONTO_END_RUNS_ONCE

// Each run of a program that values decide refines it, so that is optimized.
namespace onto::detail {

/// What guards and scopes ask for together.
struct combined_request {
  place where{};
  bool foreign = false;  // a device that no process can have
  std::string_view text;
};

/// A node that values tell from others of its type.
struct refined_node {
  int typed = -1;                       // the node of the compiled graph, or -1: there is none
  const graph_node* derived = nullptr;  // what a derivation made
  const state* values = nullptr;        // of a constant or scalar
  int first = 0;                        // of its operands
  int next = -1;                        // another of the same type
  combined_request request;             // where a guard was alive
};

/// The states of fetched expressions, met along a graph's visits.
class refinement {
 public:
  /// `fetched`: the states of what is fetched, of which one is there. *Throws* `invalid_argument_error` where one name
  /// has two meanings.
  refinement(const graph_view& g, const state* const* fetched, arena& memory)
      : states(find_states(g, fetched, memory)), g_(g), m_(memory), guard_(guard_of(g, fetched)) {
    if (guard_ || !is_plain()) refine(fetched);
  }

  /// Along each visit the state that it comes to first.
  static const state** find_states(const graph_view& g, const state* const* fetched, arena& memory) {
    auto** at = memory.make<const state*>(g.visit_count);
    for (int v = 0; v < g.visit_count; ++v) at[v] = state_of_visit(g.visits[v], fetched, at);
    return at;
  }

  /// Whether each node of the graph is one: then `nodes` are in the order of the graph; or there are none, and `states`
  /// of their visits are theirs.
  bool is_typed() const { return typed_; }
  bool has_guards() const { return guard_ != nullptr; }

  const graph_view& graph() const { return g_; }
  arena& memory() { return m_; }

  /// The id of node `k`. Copies of one node may differ in extents: each has its own. What was derived keeps the id by
  /// which its extents are looked up, whatever node of the compiled graph it turns out to be.
  std::uint64_t id_of(int k) const {
    const refined_node& x = nodes[k];
    if (x.derived) return x.derived->id;
    return x.next < 0 ? g_[x.typed].id : hash_mix(g_[x.typed].id, static_cast<std::uint64_t>(k));
  }

  arena_list<refined_node> nodes{};
  arena_list<int> operands{};
  int* fetches = nullptr;
  const state* const* const states;

 private:
  /// One scope on the way down.
  struct scope_link {
    const scope_link* outer = nullptr;
    scope_step step;
    const scope_link* next = nullptr;
  };
  /// What a visit came to with a state before.
  struct meeting {
    const state* values = nullptr;
    const scope_link* around = nullptr;
    int node = -1;
    const meeting* next = nullptr;
  };

  static const state* child_of(const state* s, int child) {
    return s && child < s->child_count ? s->children[child] : nullptr;
  }
  /// Whether all that is met again says the same.
  bool is_plain() const {
    for (int v = 0; v < g_.visit_count; ++v)
      if (!is_met_alike(g_, v, states, m_)) return false;
    return true;
  }

  ONTO_COLD ONTO_NOINLINE void refine(const state* const* fetched) {
    first_child_ = m_.make<int>(g_.visit_count);
    next_child_ = m_.make<int>(g_.visit_count);
    met_ = m_.make<const meeting*>(g_.visit_count);
    named_ = m_.make<int>(g_.visit_count);
    first_ = m_.make<int>(g_.written);
    fetches = m_.make<int>(g_.fetch_count);
    nodes.reserve(m_, g_.written);
    for (int v = 0; v < g_.visit_count; ++v) first_child_[v] = next_child_[v] = named_[v] = -1;
    for (int n = 0; n < g_.written; ++n) first_[n] = -1;
    for (int v = g_.visit_count - 1; v >= 0; --v) {
      const int parent = g_.visits[v].parent;
      if (parent < 0) continue;
      next_child_[v] = first_child_[parent];
      first_child_[parent] = v;
    }
    for (int v = 0; v < g_.visit_count; ++v)
      if (g_.visits[v].parent < 0) fetches[g_.visits[v].child] = visit(v, fetched[g_.visits[v].child], nullptr);

    if (g_.count < g_.written || has_derived()) match_derived();
    int* const copies = m_.make<int>(g_.written);
    for (int k = 0; k < nodes.size; ++k)
      if (nodes[k].typed >= 0) ++copies[nodes[k].typed];
    typed_ = nodes.size == g_.written;
    for (int n = 0; n < g_.written; ++n) typed_ = typed_ && copies[n] == 1;
    if (!typed_) return;
    const arena_list<refined_node> found = nodes;
    nodes.items = m_.make<refined_node>(nodes.size);
    for (int k = 0; k < found.size; ++k) nodes[found[k].typed] = found[k];
  }

  bool has_derived() const {
    for (int k = 0; k < nodes.size; ++k)
      if (nodes.items[k].typed < 0) return true;
    return false;
  }

  /// Finds for what was derived the node of the compiled graph that is the same operation over the same nodes, in the
  /// same place: the gradients of two towers may differ in nothing else. Under a guard places are others; then one that
  /// is free.
  ONTO_COLD ONTO_NOINLINE void match_derived() {
    auto* const taken = m_.make<bool>(g_.written);
    for (int k = 0; k < nodes.size; ++k) {
      refined_node& x = nodes[k];
      for (int n = 0; n < g_.written && x.typed < 0; ++n)
        if (g_[n].request == x.derived->request && !taken[n] && derives(n, x)) x.typed = n;
      for (int n = 0; n < g_.written && x.typed < 0 && guard_; ++n)
        if (!taken[n] && derives(n, x)) x.typed = n;
      if (x.typed >= 0) taken[x.typed] = true;
    }
  }
  bool derives(int n, const refined_node& x) const {
    const graph_node& y = g_[n];
    bool same = y.runs_with >= 0 && y.op->hash == x.derived->op->hash && y.type == x.derived->type &&
                y.count == x.derived->count;
    for (int j = 0; j < y.count && same; ++j) same = nodes.items[operands.items[x.first + j]].typed == g_.operand(n, j);
    return same;
  }

  /// The node that a visit comes to with this state, inside these scopes. As deep as the expression is, which the
  /// compiler limits.
  ONTO_NOINLINE int visit(int v, const state* s, const scope_link* around) {
    const int d = g_.visits[v].same_as >= 0 ? g_.visits[v].same_as : v;
    for (const meeting* m = met_[d]; m; m = m->next)
      if (m->values == s && m->around == around) return m->node;
    const int node = g_.visits[d].node;
    int found = -1;
    if (g_.visits[d].derivatives) {
      const int loss = first_child_[d];
      const int first = visit(loss, child_of(s, 0), around);
      found = g_.visits[d].derivatives->again(*this, d, first, visit(next_child_[loss], child_of(s, 1), around));
    } else if (g_[node].visit == d) {
      found = g_[node].is_leaf() ? leaf(node, s, around) : operation(d, node, s, around);
    } else {
      const bool is_scope = g_.visits[d].scope.is_set();
      found = visit(first_child_[d], child_of(s, 0), is_scope && guard_ ? inside(around, d, s) : around);
      for (int c = next_child_[first_child_[d]]; c >= 0; c = next_child_[c])  // effects of a group
        visit(c, child_of(s, g_.visits[c].child), around);
      if (!is_scope) {
        if (named_[d] >= 0 && named_[d] != found) throw_two_meanings(g_, node);
        named_[d] = found;
      }
    }
    auto* m = m_.make<meeting>(1);
    *m = {s, around, found, met_[d]};
    met_[d] = m;
    return found;
  }

  ONTO_COLD ONTO_NOINLINE const scope_link* inside(const scope_link* around, int visit, const state* s) {
    const scope_step step{s ? s->guard : nullptr, g_.visits[visit].scope};
    for (const scope_link* l = links_; l; l = l->next)
      if (l->outer == around && l->step.guard == step.guard && l->step.where == step.where) return l;
    auto* l = m_.make<scope_link>(1);
    *l = {around, step, links_};
    return links_ = l;
  }

  /// What is asked for by the scopes around a node and its own guard.
  ONTO_NOINLINE combined_request request_of(int node, const state* s, const scope_link* around) {
    combined_request all;
    all.where = g_[node].request;
    if (!guard_) return all;
    const graph_node& n = g_[node];
    // A constant that is written under a guard is placed by it; symbols are placed by `on` around them alone.
    const bool placed_alone = n.is_leaf() && n.request.is_set();
    const bool guarded = !n.is_leaf() || (n.kind() == op_kind::constant && !placed_alone);
    int count = 0;
    for (const scope_link* l = around; l && !n.is_leaf(); l = l->outer) ++count;
    auto* steps = m_.make<scope_step>(count + 2);
    int k = count;
    for (const scope_link* l = around; l && !n.is_leaf(); l = l->outer) steps[--k] = l->step;
    if (placed_alone) steps[count++] = {nullptr, n.request};
    if (guarded) steps[count++] = {s ? s->guard : nullptr, place{}};
    scope_request r;
    guard_->combine(steps, count, r);
    all.where = r.where;
    all.foreign = r.foreign;
    all.text = {m_.copy(r.text.data(), static_cast<int>(r.text.size())), r.text.size()};
    return all;
  }

  ONTO_NOINLINE int add(int& first, int typed, const state* s, int first_operand, const combined_request& r) {
    refined_node n;
    n.typed = typed;
    n.values = s;
    n.first = first_operand;
    n.next = first;
    n.request = r;
    return first = nodes.push_back(m_, n);
  }

  ONTO_NOINLINE int leaf(int node, const state* s, const scope_link* around) {
    const combined_request r = request_of(node, s, around);
    for (int k = first_[node]; k >= 0; k = nodes[k].next)
      if (g_[node].is_symbol() || (same_values(nodes[k].values, s) && nodes[k].request.text == r.text)) {
        if (g_[node].is_symbol() && !same_initial(nodes[k].values, s)) throw_two_meanings(g_, node);
        return k;
      }
    if (first_[node] >= 0 && !g_[node].holds_values) throw_two_meanings(g_, node);
    return add(first_[node], node, s, 0, r);
  }

  /// Whether two states of a variable are of one: with and without its initial value it is the same.
  bool same_initial(const state* a, const state* b) {
    a = child_of(a, 0);
    b = child_of(b, 0);
    return !a || !b || equal_states(a, b, m_);
  }

  ONTO_NOINLINE int operation(int visit_of_it, int node, const state* s, const scope_link* around) {
    const int count = g_[node].count;
    int* const of = m_.make<int>(count);
    for (int c = first_child_[visit_of_it]; c >= 0; c = next_child_[c])
      of[g_.visits[c].child] = visit(c, child_of(s, g_.visits[c].child), around);
    const combined_request r = request_of(node, s, around);
    for (int k = first_[node]; k >= 0; k = nodes[k].next) {
      bool same = nodes[k].request.text == r.text;
      for (int j = 0; j < count && same; ++j) same = operands[nodes[k].first + j] == of[j];
      if (same) return k;
    }
    if (first_[node] >= 0 && !g_[node].holds_values) throw_two_meanings(g_, node);
    const int first = operands.size;
    for (int j = 0; j < count; ++j) operands.push_back(m_, of[j]);
    return add(first_[node], node, s, first, r);
  }

  const graph_view& g_;
  arena& m_;
  const guard_scope* const guard_;  // any of the program
  bool typed_ = true;
  int* first_child_ = nullptr;  // per visit
  int* next_child_ = nullptr;
  const meeting** met_ = nullptr;
  int* named_ = nullptr;  // per visit: what a name stands for
  int* first_ = nullptr;  // per node of the graph: the latest of its nodes
  const scope_link* links_ = nullptr;
};

}  // namespace onto::detail
