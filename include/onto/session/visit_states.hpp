// SPDX-License-Identifier: BSL-1.0
// The states of expressions along a graph's visits: where scalars and constants have their values.
#pragma once

#include <onto/core/arena.hpp>
#include <onto/expr/state.hpp>
#include <onto/graph/graph.hpp>

#include <cstring>

namespace onto::detail {

/// A list in an arena.
template <class T>
struct arena_list {
  T* items = nullptr;
  int size = 0;
  int capacity = 0;

  void reserve(arena& memory, int count) {
    T* const more = memory.make<T>(count);
    for (int k = 0; k < size; ++k) more[k] = items[k];
    items = more;
    capacity = count;
  }
  int push_back(arena& memory, const T& item) {
    if (size == capacity) reserve(memory, capacity ? 2 * capacity : 16);
    items[size] = item;
    return size++;
  }
  ONTO_INLINE T& operator[](int k) const { return items[k]; }
};

/// Whether two scalars or constants are the same, to the bit; of data, whether it is the same object.
inline bool same_values(const state* a, const state* b) {
  if (a == b) return true;
  if (!a || !b) return false;
  if (a->refers_to && a->refers_to == b->refers_to && a->refers_to->same)
    return a->refers_to->same(a->object, b->object);
  if (a->object != b->object || a->refers_to != b->refers_to || a->scalar != b->scalar || a->bytes != b->bytes ||
      !(a->shape == b->shape))
    return false;
  return a->bytes == 0 || std::memcmp(a->values, b->values, static_cast<std::size_t>(a->bytes)) == 0;
}

/// Whether two states say the same: the same values and the same guards all the way down. False, too, where more than
/// `most` have to be compared, since each is looked for among those before.
ONTO_NOINLINE inline bool equal_states(const state* one, const state* other, arena& memory, int most = 1 << 30) {
  struct pair {
    const state* a = nullptr;
    const state* b = nullptr;
  };
  arena_list<pair> pairs{};  // those to be compared, each once, though the states share what is below them
  pairs.push_back(memory, {one, other});
  for (int k = 0; k < pairs.size; ++k) {
    const auto [a, b] = pairs[k];
    if (a == b) continue;
    if (k == most || !a || !b || !same_values(a, b) || a->child_count != b->child_count) return false;
    if (a->guard != b->guard && !(a->guard && b->guard && a->guard->equal(a->guard, b->guard))) return false;
    for (int c = 0; c < a->child_count; ++c) {
      const pair below{a->children[c], b->children[c]};
      bool known = false;
      for (int j = 0; j < pairs.size && !known; ++j) known = pairs[j].a == below.a && pairs[j].b == below.b;
      if (!known) pairs.push_back(memory, below);
    }
  }
  return true;
}

/// States that are compared before a program is refined, which takes linear time.
inline constexpr int most_compared = 64;

/// A guard under which something of what is fetched was written, or null.
inline const guard_scope* guard_of(const graph_view& g, const state* const* fetched) {
  const state* s = nullptr;
  for (int k = 0; k < g.fetch_count && !s; ++k)
    if (fetched[k] && fetched[k]->guards) s = fetched[k];
  while (s && !s->guard) {
    int k = 0;
    while (!s->children[k] || !s->children[k]->guards) ++k;
    s = s->children[k];
  }
  return s ? s->guard : nullptr;
}

/// The state that a visit comes to first, or null. `fetched`: the states of what is fetched; `at`: of the visits
/// before.
ONTO_INLINE const state* state_of_visit(const graph_visit& visit, const state* const* fetched, const state* const* at) {
  if (visit.parent < 0) return fetched[visit.child];
  const state* const above = at[visit.parent];
  return above && visit.child < above->child_count ? above->children[visit.child] : nullptr;
}

/// Whether what a visit meets again says the same there, as far as it was compared. `at`: of all visits.
ONTO_INLINE bool is_met_alike(const graph_view& g, int visit, const state* const* at, arena& memory) {
  const int first = g.visits[visit].same_as;
  return first < 0 || at[visit] == at[first] || equal_states(at[visit], at[first], memory, most_compared);
}

/// Those of all visits.
struct visit_states {
  const state** at;
  const state** values;  // per node, of a leaf
  bool one = true;       // what is met again says the same
  const bool guarded;    // something was written under a guard

  ONTO_NOINLINE visit_states(const graph_view& g, const state* const* fetched, arena& memory)
      : at(memory.make<const state*>(g.visit_count)),
        values(memory.make<const state*>(g.count)),
        guarded(guard_of(g, fetched) != nullptr) {
    for (int v = 0; v < g.visit_count; ++v) {
      at[v] = state_of_visit(g.visits[v], fetched, at);
      one = one && is_met_alike(g, v, at, memory);
    }
    for (int n = 0; n < g.count; ++n)
      if (g[n].is_leaf() && g[n].visit >= 0) values[n] = at[g[n].visit];
  }
};

}  // namespace onto::detail
