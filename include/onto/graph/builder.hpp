// SPDX-License-Identifier: BSL-1.0
// Lowering: an expression's type becomes an array of nodes, one `put` per node. Identity is decided here.
#pragma once

#include <onto/expr/expression.hpp>
#include <onto/graph/graph.hpp>
#include <onto/graph/matmul_chain.hpp>

#include <utility>

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
    // nvcc 13.0 does not give members of arrays made by `new` their initial values (tests/static/graph/builder.cpp).
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
  struct given_name {
    std::string_view text{};
    std::uint64_t id = 0;
  };

  growing_list<graph_node> nodes;
  growing_list<int> operands;
  growing_list<graph_visit> visits;
  growing_list<given_name> names;
  identity_table known;
  name_clash clash{};
  bool values_decide = false;  // how many nodes there are, where values differ or are the same
  bool broken = false;
  bool overflow = false;

  static constexpr std::uint64_t key_of(std::uint64_t id, const place& scope) {
    return hash_mix(id, static_cast<std::uint64_t>(scope.kind) * 4096 + static_cast<std::uint64_t>(scope.index + 1));
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

 private:
  constexpr bool meets(int visit, const node_facts& facts, const identity_table::entry& found) {
    if (found.node < 0) return false;
    visits[visit].node = found.node;
    visits[visit].same_as = found.visit;
    if (facts.holds_values) {
      nodes[found.node].holds_values = true;
      values_decide = true;
    }
    return true;
  }

  constexpr int append(int visit, const node_facts& facts, const op_info& op, const place& request) {
    if (nodes.size() == node_limit) {
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

/// The exact sizes of a lowered graph.
struct graph_sizes {
  int nodes, operands, visits;
  bool values_decide, overflow, broken;
  name_clash clash;
};

/// A lowered graph, sized exactly.
template <int Nodes, int Operands, int Visits, int Fetches>
struct graph_data {
  graph_node nodes[Nodes > 0 ? Nodes : 1]{};
  int operands[Operands > 0 ? Operands : 1]{};
  graph_visit visits[Visits > 0 ? Visits : 1]{};
  int fetches[Fetches]{};

  constexpr graph_view view() const { return {nodes, Nodes, operands, fetches, Fetches, visits, Visits}; }
};

template <class... E>
struct lowering {
  static constexpr int fetch_count = static_cast<int>(sizeof...(E));

  template <int... K>
  static constexpr void run(graph_builder& b, int* fetches, std::integer_sequence<int, K...>) {
    ((fetches[K] = E::node::put(b, place{}, false, -1, K)), ...);
  }

  static constexpr graph_sizes measure() {
    graph_builder b;
    int fetches[sizeof...(E)]{};
    run(b, fetches, std::make_integer_sequence<int, fetch_count>{});
    if (b.overflow) return {0, 0, 0, false, true, b.broken, {}};
    return {b.nodes.size(), b.operands.size(), b.visits.size(), b.values_decide, false, b.broken, b.clash};
  }
  static constexpr graph_sizes sizes = measure();

  static constexpr auto lower() {
    graph_data<sizes.nodes, sizes.operands, sizes.visits, fetch_count> g;
    if constexpr (sizes.nodes > 0) {
      graph_builder b;
      run(b, g.fetches, std::make_integer_sequence<int, fetch_count>{});
      int uses[sizes.nodes]{}, next[sizes.nodes]{}, at[sizes.nodes]{};
      bool inside[sizes.nodes]{}, moves[sizes.nodes]{};
      order_chains(b.nodes.begin(), sizes.nodes, b.operands.begin(), sizes.operands, g.fetches, fetch_count,
                   {uses, next, inside, moves}, at, g.nodes);
      for (int k = 0; k < sizes.operands; ++k) g.operands[k] = b.operands[k];
      for (int k = 0; k < sizes.visits; ++k) {
        g.visits[k] = b.visits[k];
        if (g.visits[k].node >= 0) g.visits[k].node = at[g.visits[k].node];
      }
    }
    return g;
  }
  static constexpr auto data = lower();
};

// One struct a mistake: its name and arguments are what the compiler prints. A mistake is reported by naming
// `reported`, outside of constant expressions: clang takes no constant that needs a struct that failed.
template <class Name>
struct two_meanings_of_one_name {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(
      ok, "[onto.name] one name stands for two different things (or is placed on two devices); rename one of them");
};

template <class Name>
struct variable_is_assigned_twice {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(ok,
                "[onto.variable] one run assigns to a variable twice, and the order is not said; assign in two runs");
};

template <int Limit>
struct too_many_nodes {
  using reported = void;
  static constexpr bool ok = Limit < 0;
  static_assert(ok,
                "[onto.graph] more than 2048 nodes in one run; run it in parts, and keep what they share in variables");
};

template <const std::string_view& Text, std::size_t... K>
auto spell_name(std::index_sequence<K...>) -> text<Text[K]...>;

/// The lowered graph of the expressions that are fetched together.
/// *Mandates* at most 2048 nodes, and one meaning for each name.
template <class... E>
struct graph_of {
  using lowered = lowering<E...>;
  static constexpr int most_nodes = node_limit;
  static constexpr bool small_enough = !lowered::sizes.overflow;
  static constexpr bool clash = lowered::sizes.clash.found;

  static constexpr graph_view view = lowered::data.view();

  /// A variable with two assignments, or -1.
  static constexpr int find_assigned_twice() {
    for (int n = 0; n < view.count; ++n)
      for (int m = 0; view[n].kind() == op_kind::assign && m < n; ++m)
        if (view[m].kind() == op_kind::assign && view.operand(m, 0) == view.operand(n, 0)) return view.operand(n, 0);
    return -1;
  }
  static constexpr int assigned_twice = find_assigned_twice();
  static constexpr std::string_view wrong_name = clash                 ? lowered::sizes.clash.name
                                                 : assigned_twice >= 0 ? view[assigned_twice].name
                                                                       : std::string_view{};

  static constexpr bool well_formed = !lowered::sizes.broken && small_enough && !clash && assigned_twice < 0;
};

/// Reports what is wrong with a graph that is not well-formed, unless that was reported where it was written.
template <class Graph>
constexpr void report_mistake() {
  if constexpr (!Graph::small_enough) {
    (void)static_cast<typename too_many_nodes<Graph::most_nodes>::reported*>(nullptr);
  } else if constexpr (Graph::clash || Graph::assigned_twice >= 0) {
    using name = decltype(spell_name<Graph::wrong_name>(std::make_index_sequence<Graph::wrong_name.size()>{}));
    using found = std::conditional_t<Graph::clash, two_meanings_of_one_name<name>, variable_is_assigned_twice<name>>;
    (void)static_cast<typename found::reported*>(nullptr);
  }
}

}  // namespace detail

}  // namespace onto
