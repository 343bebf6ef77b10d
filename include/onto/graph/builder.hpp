// SPDX-License-Identifier: BSL-1.0
// What lowering puts nodes into: an expression's type becomes an array of nodes, one `put` per node. Identity is
// decided here.
#pragma once

#include <onto/expr/expression.hpp>
#include <onto/graph/graph.hpp>

namespace onto {

namespace detail {

/// The most nodes one run may have.
inline constexpr int node_limit = 2048;

/// A list that grows, in constant expressions too.
template <class T>
class growing_list {
 public:
  constexpr growing_list() : items_(new T[first]{}) {}
  growing_list(const growing_list&) = delete;
  growing_list& operator=(const growing_list&) = delete;
  constexpr ~growing_list() { delete[] items_; }

  constexpr int size() const { return size_; }
  constexpr T& operator[](int k) { return items_[k]; }
  constexpr const T& operator[](int k) const { return items_[k]; }
  constexpr T* begin() { return items_; }

  constexpr int push_back(const T& item) {
    if (size_ == capacity_) {
      capacity_ *= 2;
      T* const more = new T[static_cast<std::size_t>(capacity_)]{};
      for (int k = 0; k < size_; ++k) more[k] = items_[k];
      delete[] items_;
      items_ = more;
    }
    items_[size_] = item;
    return size_++;
  }

 private:
  static constexpr int first = 16;
  T* items_;
  int size_ = 0;
  int capacity_ = first;
};

/// Finds nodes by a hash of what they are: open addressing.
class identity_table {
 public:
  struct entry {
    std::uint64_t key = 0;
    int node = -1;
    int visit = -1;  // that defined it
  };

  constexpr identity_table() : entries_(empty_entries(first)) {}
  identity_table(const identity_table&) = delete;
  identity_table& operator=(const identity_table&) = delete;
  constexpr ~identity_table() { delete[] entries_; }

  /// The entry, or one whose node is -1.
  constexpr entry find(std::uint64_t key) const { return entries_[slot_of(key)]; }

  constexpr void add(std::uint64_t key, int node, int visit) {
    if (2 * (count_ + 1) > slots_) {
      const entry* const old = entries_;
      const int old_slots = slots_;
      slots_ *= 4;
      entries_ = empty_entries(slots_);
      for (int k = 0; k < old_slots; ++k)
        if (old[k].node >= 0) entries_[slot_of(old[k].key)] = old[k];
      delete[] old;
    }
    entry& e = entries_[slot_of(key)];
    if (e.node < 0) ++count_;
    e = {key, node, visit};
  }

 private:
  static constexpr entry* empty_entries(int count) {
    auto* const entries = new entry[static_cast<std::size_t>(count)]{};
    // nvcc 13.0 does not give members of arrays made by `new` their initial values (tests/static/graph/lowering.cpp).
    for (int k = 0; k < count; ++k) entries[k] = entry{};
    return entries;
  }

  constexpr std::size_t slot_of(std::uint64_t key) const {
    const auto mask = static_cast<std::uint64_t>(slots_ - 1);
    std::uint64_t k = key & mask;
    while (entries_[k].node >= 0 && entries_[k].key != key) k = (k + 1) & mask;
    return static_cast<std::size_t>(k);
  }

  static constexpr int first = 32;
  entry* entries_;
  int slots_ = first;
  int count_ = 0;
};

/// Collects nodes. What is written once is one node: expressions of equal types under one scope are merged. Where they
/// hold values, those may differ; the session finds out (session/refinement.hpp).
struct graph_builder {
  constexpr graph_builder() = default;
  constexpr graph_builder(bool written_apart, int limit) : apart(written_apart), most_nodes(limit) {}
  graph_builder(const graph_builder&) = delete;
  graph_builder& operator=(const graph_builder&) = delete;
  constexpr ~graph_builder() {
    for (int k = 0; k < made.size(); ++k) delete made[k];
  }

  struct given_name {
    std::string_view text{};
    std::uint64_t id = 0;
  };

  growing_list<graph_node> nodes;
  growing_list<int> operands;
  growing_list<graph_visit> visits;
  growing_list<given_name> names;
  growing_list<op_info*> made;  // the operations of derivations
  identity_table known;
  std::string_view underived{};  // an operation without a derivative, of which one is asked for
  bool derives = false;          // there is a gradient
  bool unreached = false;        // a gradient by what the loss does not depend on
  name_clash clash{};
  bool values_decide = false;  // how many nodes there are, where values differ or are the same
  bool broken = false;
  bool overflow = false;
  bool apart = false;  // what holds values is a node each time it is written
  int most_nodes = node_limit;

  static constexpr std::uint64_t key_of(std::uint64_t id, const place& scope) {
    return hash_mix(id, detail::key_of(scope));
  }
  static constexpr std::uint64_t key_of(const node_facts& facts, const op_info& op) {
    return hash_mix(facts.id, op.hash);
  }

  constexpr int visit(int parent, int child, place scope = {}) {
    graph_visit v;
    v.parent = parent;
    v.child = child;
    v.scope = scope;
    return visits.push_back(v);
  }

  /// Whether there is a node for these facts under this scope: then this visit meets it again. A graph that is too
  /// large ends here.
  constexpr bool meets(int visit, const node_facts& facts, const place& scope) {
    if (overflow) return true;
    return meets(visit, facts, known.find(key_of(facts.id, scope)));
  }

  /// The node that a visit has met.
  constexpr int node_at(int visit) const { return overflow ? 0 : visits[visit].node; }

  constexpr int leave(int visit, int node) {
    visits[visit].node = node;
    return node;
  }

  constexpr int add(int visit, const node_facts& facts, const op_info& op, const place& scope, const int* list,
                    int count) {
    const int node = append(visit, facts, op, scope);
    nodes[node].first = operands.size();
    nodes[node].count = count;
    for (int k = 0; k < count; ++k) operands.push_back(list[k]);
    known.add(key_of(facts.id, scope), node, visit);
    return node;
  }

  /// A named expression: its node gets the name, and is found again under it.
  constexpr int name(int visit, const node_facts& facts, const place& scope, int node, std::string_view text) {
    check_name(text, facts.id);
    graph_node& n = nodes[node];
    if (n.name.empty() && !n.is_leaf()) n.name = text;
    if (n.visit > visit) n.holds_values = false;  // what has a name has one value
    names.push_back({text, facts.id});
    known.add(key_of(facts.id, scope), node, visit);
    return leave(visit, node);
  }

  /// A value with effects: its node is found again under the facts of both.
  constexpr int group(int visit, const node_facts& facts, const place& scope, int node) {
    known.add(key_of(facts.id, scope), node, visit);
    return leave(visit, node);
  }

  /// Marks the nodes from `first` on as an optimizer's work for a variable: they run where that is. Their kernels are
  /// chosen as if they were asked for where it is asked for, or where its gradient is.
  constexpr void run_with_variable(int first, const node_facts& variable, const op_info& op, const node_facts& gradient,
                                   const place& scope) {
    if (overflow) return;
    const identity_table::entry w = known.find(key_of(variable, op)), g = known.find(key_of(gradient.id, scope));
    place request = w.node >= 0 ? nodes[w.node].request : place{};
    if (!request.is_set() && g.node >= 0) request = nodes[g.node].request;
    for (int k = first; k < nodes.size(); ++k) {
      graph_node& n = nodes[k];
      if (n.runs_with >= 0 || n.kind() == op_kind::scalar || n.kind() == op_kind::placeholder) continue;
      n.variable = variable.id;
      if (!n.is_leaf() && !n.request.is_set()) n.request = request;
    }
  }

  /// Marks the nodes from `first` on as the first value of a variable: they run where that is, unless asked elsewhere.
  constexpr void begin_with_variable(int first, const node_facts& variable) {
    for (int k = first; k < nodes.size() && !overflow; ++k)
      if (graph_node& n = nodes[k];
          n.kind() != op_kind::scalar && n.kind() != op_kind::placeholder && !n.request.is_set())
        n.variable = variable.id;
  }

  /// A placeholder or variable: one node whatever scope it is used in. Placed where `on` is around it alone.
  constexpr int symbol(int parent, int child, const node_facts& facts, const op_info& op, const place& request,
                       std::string_view text) {
    const int v = visit(parent, child);
    if (meets(v, facts, known.find(key_of(facts, op)))) {
      graph_node& n = nodes[visits[v].node];
      if (request.is_set()) {
        if (n.request.is_set() && !(n.request == request)) clash = {true, text};
        n.request = request;
      }
      return visits[v].node;
    }
    check_name(text, facts.id);
    const int node = append(v, facts, op, request);
    nodes[node].name = text;
    known.add(key_of(facts, op), node, v);
    return node;
  }

  /// A constant or a scalar. A constant without a name is one in each scope, as an operation is; a scalar is one for
  /// each operation that it is written in: it is part of a kernel.
  constexpr int leaf(int parent, int child, const node_facts& facts, const op_info& op, const place& request,
                     std::string_view text, const place& scope = {}) {
    if (!text.empty()) return symbol(parent, child, facts, op, request, text);
    const int v = visit(parent, child);
    if (op.kind == op_kind::scalar && facts.holds_values) return append(v, facts, op, request);
    const std::uint64_t key = key_of(key_of(key_of(facts, op), request), scope);
    if (meets(v, facts, known.find(key))) return visits[v].node;
    const int node = append(v, facts, op, request);
    known.add(key, node, v);
    return node;
  }

  constexpr int ill_formed() {
    broken = true;
    return 0;
  }

  /// A node that a derivation adds, or the one with its id.
  constexpr int derived(graph_node n, const int* list) {
    if (overflow) return 0;
    if (const identity_table::entry found = known.find(n.id); found.node >= 0) return found.node;
    if (nodes.size() == most_nodes) {
      overflow = true;
      return 0;
    }
    if (n.kind() != op_kind::scalar) n.request = nodes[n.runs_with].request;
    n.first = operands.size();
    for (int k = 0; k < n.count; ++k) {
      operands.push_back(list[k]);
      n.holds_values = n.holds_values || nodes[list[k]].holds_values;
    }
    const int node = nodes.push_back(n);
    known.add(n.id, node, n.visit);
    return node;
  }
  /// A gradient: its node is found again under its facts.
  constexpr int leave_gradient(int visit, const node_facts& facts, const place& scope, int node,
                               const derivative_rules& rules) {
    visits[visit].derivatives = &rules;
    derives = true;
    known.add(key_of(facts.id, scope), node, visit);
    return leave(visit, node);
  }

 private:
  constexpr bool meets(int visit, const node_facts& facts, const identity_table::entry& found) {
    if (found.node < 0 || (apart && facts.holds_values)) return false;
    visits[visit].node = found.node;
    visits[visit].same_as = found.visit;
    if (facts.holds_values) {
      nodes[found.node].holds_values = true;
      values_decide = true;
    }
    return true;
  }

  constexpr int append(int visit, const node_facts& facts, const op_info& op, const place& request) {
    if (nodes.size() == most_nodes) {
      overflow = true;
      return 0;
    }
    graph_node n;
    n.op = &op;
    n.id = facts.id;
    n.type = facts.type;
    n.shape = facts.shape;
    n.request = request;
    n.visit = visit;
    n.holds_values = facts.holds_values;
    visits[visit].node = nodes.size();
    return nodes.push_back(n);
  }

  constexpr void check_name(std::string_view text, std::uint64_t id) {
    for (int k = 0; k < nodes.size(); ++k)
      if ((nodes[k].is_symbol() || nodes[k].kind() == op_kind::constant) && nodes[k].name == text && nodes[k].id != id)
        clash = {true, text};
    for (int k = 0; k < names.size(); ++k)
      if (names[k].text == text && names[k].id != id) clash = {true, text};
  }
};

}  // namespace detail

}  // namespace onto
