// SPDX-License-Identifier: BSL-1.0
// `named<"h">(e)`: an identity and a name for an expression. The named type does not spell what is below it, so sharing
// is free.
#pragma once

#include <onto/expr/expression.hpp>

namespace onto {

namespace detail {

template <class E>
struct type_box {
  using type = E;
};

#if defined(__NVCC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1301
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif

// Compilers spell a shared subtree as often as it is used: 16 levels that use their operand twice are 65536 copies in a
// name. So a named node is spelled by its name and the hash of its definition, and the definition is found by overload
// resolution.
template <class Name, std::uint64_t Id>
struct named_key {
  friend constexpr auto named_definition(named_key<Name, Id>);
};

template <class Name, std::uint64_t Id, class E>
struct named_entry {
  friend constexpr auto named_definition(named_key<Name, Id>) { return type_box<E>{}; }
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#if defined(__NVCC__)
#pragma nv_diagnostic pop
#endif

}  // namespace detail

/// An expression under a name.
template <class Name, std::uint64_t Id>
struct named_node : detail::stateful_expression {
  using definition = typename decltype(named_definition(detail::named_key<Name, Id>{}))::type;
  using element_type = typename definition::element_type;
  using ops = typename definition::ops;
  static constexpr element type = definition::facts.type;

  static constexpr detail::node_facts make_facts() {
    detail::node_facts f = definition::facts;
    f.id = detail::hash_mix(detail::hash_text(Name::value), Id);
    f.stateful = false;
    f.nodes = f.nodes < detail::node_limit ? f.nodes + 1 : f.nodes;
    return f;
  }
  static constexpr detail::node_facts facts = make_facts();

  constexpr explicit named_node(detail::state_ref s)
      : detail::stateful_expression(static_cast<detail::state_ref&&>(s)) {}

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool alone, int parent, int child) {
    const int visit = b.visit_named(parent, child, Name::value, facts.id);
    if (const int seen = b.find(facts, scope); seen >= 0) return b.repeat(visit, seen);
    return b.name(visit, facts, scope, definition::put(b, scope, alone, visit, 0), Name::value);
  }
};

namespace detail {
template <class Name, class E>
constexpr auto make_named(Name, const E& e) {
  (void)sizeof(named_entry<Name, E::facts.id, E>);
  return named_node<Name, E::facts.id>{join_states(e.state.get())};
}
}  // namespace detail

/// Gives `e` an identity and a name in logs, errors and pictures. What is named runs once, even over unnamed scalars
/// and constants.
template <fixed_string Name, expression E>
constexpr auto named(const E& e) {
  if constexpr (std::same_as<E, ill_formed>) {
    return e;
  } else {
    static_assert(Name.length() > 0, "[onto.name] a name has at least one character");
    return detail::make_named(detail::spelled<Name>(), e);
  }
}

}  // namespace onto
