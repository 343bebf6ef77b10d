// SPDX-License-Identifier: BSL-1.0
// Lowering: an expression's type becomes an array of nodes, one `put` per node. Identity is decided here.
#pragma once

#include <onto/expr/expression.hpp>
#include <onto/graph/chain.hpp>
#include <onto/graph/graph.hpp>

#include <utility>

namespace onto {

namespace detail {

/// Collects nodes. `Capacity` bounds nodes, operands and visits alike.
template <int Capacity>
struct graph_builder {
  static constexpr int table_size() {
    int n = 16;
    while (n < 2 * Capacity) n *= 2;
    return n;
  }
  static constexpr int slots = table_size();

  struct slot {
    std::uint64_t key = 0;
    int node = -1;
    int visit = -1;  // that defined it
  };

  graph_node nodes[Capacity]{};
  int operands[Capacity]{};
  graph_visit visits[Capacity]{};
  slot table[slots]{};
  int node_count = 0;
  int operand_count = 0;
  int visit_count = 0;
  name_clash clash{};
  bool broken = false;
  bool overflow = false;

  static constexpr std::uint64_t key_of(std::uint64_t id, const place& scope) {
    return hash_mix(id, static_cast<std::uint64_t>(scope.kind) * 4096 + static_cast<std::uint64_t>(scope.index + 1));
  }

  constexpr int visit(int parent, int child, place) {
    if (visit_count == Capacity) {
      overflow = true;
      return 0;
    }
    visits[visit_count].parent = parent;
    visits[visit_count].child = child;
    return visit_count++;
  }
  constexpr int visit_scope(int parent, int child, place scope) {
    const int v = visit(parent, child, scope);
    visits[v].scope = scope;
    return v;
  }
  constexpr int visit_named(int parent, int child, std::string_view, std::uint64_t) { return visit(parent, child, {}); }

  /// Where the node for these facts under this scope is remembered, or -1. What has no identity is never found.
  constexpr int find(const node_facts& facts, const place& scope) const {
    if (facts.stateful) return -1;
    const std::uint64_t key = key_of(facts.id, scope);
    for (std::uint64_t k = key & (slots - 1);; k = (k + 1) & (slots - 1)) {
      if (table[k].node < 0) return -1;
      if (table[k].key == key) return static_cast<int>(k);
    }
  }

  constexpr void remember(const node_facts& facts, const place& scope, int node, int visit) {
    const std::uint64_t key = key_of(facts.id, scope);
    std::uint64_t k = key & (slots - 1);
    while (table[k].node >= 0) k = (k + 1) & (slots - 1);
    table[k] = {key, node, visit};
  }

  /// Meets again what `find` found.
  constexpr int repeat(int visit, int found) {
    visits[visit].node = table[found].node;
    visits[visit].same_as = table[found].visit;
    return table[found].node;
  }

  constexpr int leave(int visit, int node) {
    visits[visit].node = node;
    return node;
  }

  constexpr int append(int visit, const node_facts& facts, const op_info& op, const place& request) {
    if (node_count == Capacity) {
      overflow = true;
      return 0;
    }
    graph_node& n = nodes[node_count];
    n.op = &op;
    n.id = facts.id;
    n.type = facts.type;
    n.shape = facts.shape;
    n.request = request;
    n.visit = visit;
    visits[visit].node = node_count;
    return node_count++;
  }

  constexpr int add(int visit, const node_facts& facts, const op_info& op, const place& scope, const int* list,
                    int count) {
    const int node = append(visit, facts, op, scope);
    nodes[node].first = operand_count;
    nodes[node].count = count;
    for (int k = 0; k < count && operand_count < Capacity; ++k) operands[operand_count++] = list[k];
    if (!facts.stateful) remember(facts, scope, node, visit);
    return node;
  }

  /// A named expression: its node gets the name, and is found again under it.
  constexpr int name(int visit, const node_facts& facts, const place& scope, int node, std::string_view text) {
    check_name(text, facts.id);
    if (nodes[node].name.empty() && !nodes[node].is_leaf()) nodes[node].name = text;
    named_ids[named_count % Capacity] = facts.id;
    named_texts[named_count++ % Capacity] = text;
    remember(facts, scope, node, visit);
    return leave(visit, node);
  }

  /// A placeholder or variable: one node whatever scope it is used in. Placed where `on` is around it alone.
  constexpr int symbol(int parent, int child, const node_facts& facts, const op_info& op, const place& request,
                       std::string_view text) {
    const int v = visit(parent, child, {});
    for (int k = 0; k < node_count; ++k) {
      if (nodes[k].id != facts.id || nodes[k].op->hash != op.hash) continue;
      if (request.is_set()) {
        if (nodes[k].request.is_set() && !(nodes[k].request == request)) clash = {true, text};
        nodes[k].request = request;
      }
      visits[v].node = k;
      visits[v].same_as = nodes[k].visit;
      return k;
    }
    check_name(text, facts.id);
    const int node = append(v, facts, op, request);
    nodes[node].name = text;
    return node;
  }

  /// A constant or a scalar: with a name it is found again, without it is new.
  constexpr int leaf(int parent, int child, const node_facts& facts, const op_info& op, const place& request,
                     std::string_view text) {
    if (!text.empty()) return symbol(parent, child, facts, op, request, text);
    return append(visit(parent, child, {}), facts, op, request);
  }

  constexpr int ill_formed() {
    broken = true;
    return 0;
  }

  constexpr void check_name(std::string_view text, std::uint64_t id) {
    for (int k = 0; k < node_count; ++k)
      if ((nodes[k].is_symbol() || nodes[k].kind() == op_kind::constant) && nodes[k].name == text && nodes[k].id != id)
        clash = {true, text};
    for (int k = 0; k < named_count && k < Capacity; ++k)
      if (named_texts[k] == text && named_ids[k] != id) clash = {true, text};
  }

  std::uint64_t named_ids[Capacity]{};
  std::string_view named_texts[Capacity]{};
  int named_count = 0;
};

/// The exact sizes of a lowered graph.
struct graph_sizes {
  int nodes, operands, visits;
  bool overflow, broken;
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
  static constexpr int total = (E::facts.nodes + ... + 0);
  static constexpr int capacity = total < node_limit ? total : node_limit;

  template <int... K>
  static constexpr void run(graph_builder<capacity>& b, int* fetches, std::integer_sequence<int, K...>) {
    ((fetches[K] = E::put(b, place{}, false, -1, K)), ...);
  }

  static constexpr graph_sizes measure() {
    graph_builder<capacity> b;
    int fetches[sizeof...(E)]{};
    run(b, fetches, std::make_integer_sequence<int, static_cast<int>(sizeof...(E))>{});
    return {b.node_count, b.operand_count, b.visit_count, b.overflow, b.broken, b.clash};
  }
  static constexpr graph_sizes sizes = measure();

  static constexpr auto lower() {
    graph_builder<capacity> b;
    graph_data<sizes.nodes, sizes.operands, sizes.visits, static_cast<int>(sizeof...(E))> g;
    run(b, g.fetches, std::make_integer_sequence<int, static_cast<int>(sizeof...(E))>{});
    constexpr int room = sizes.nodes > 0 ? sizes.nodes : 1;
    int uses[room]{}, next[room]{}, at[room]{};
    bool inside[room]{}, moves[room]{};
    const chain_orderer chains(b.nodes, sizes.nodes, b.operands, g.fetches, static_cast<int>(sizeof...(E)),
                               {uses, next, inside, moves});
    chains.places(at);
    for (int k = 0; k < sizes.nodes; ++k) g.nodes[at[k]] = b.nodes[k];
    for (int k = 0; k < sizes.operands; ++k) g.operands[k] = at[b.operands[k]];
    for (int& fetch : g.fetches) fetch = at[fetch];
    for (int k = 0; k < sizes.visits; ++k) {
      g.visits[k] = b.visits[k];
      if (g.visits[k].node >= 0) g.visits[k].node = at[g.visits[k].node];
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
  static_assert(
      ok,
      "[onto.graph] more than 2048 nodes in one run; give shared parts a name with named<\"h\">(e), or run in parts");
};

template <const std::string_view& Text, std::size_t... K>
auto spell_name(std::index_sequence<K...>) -> text<Text[K]...>;

/// The lowered graph of the expressions that are fetched together.
/// *Mandates* at most 2048 nodes, and one meaning for each name.
template <class... E>
struct graph_of {
  using lowered = lowering<E...>;
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
    (void)static_cast<typename too_many_nodes<Graph::lowered::capacity>::reported*>(nullptr);
  } else if constexpr (Graph::clash || Graph::assigned_twice >= 0) {
    using name = decltype(spell_name<Graph::wrong_name>(std::make_index_sequence<Graph::wrong_name.size()>{}));
    using found = std::conditional_t<Graph::clash, two_meanings_of_one_name<name>, variable_is_assigned_twice<name>>;
    (void)static_cast<typename found::reported*>(nullptr);
  }
}

}  // namespace detail

}  // namespace onto
