// SPDX-License-Identifier: BSL-1.0
// `named<"h">(e)`: a name for an expression in logs, errors, pictures and checkpoints.
#pragma once

#include <onto/expr/boxed.hpp>

#include <concepts>
#include <string_view>

namespace onto {

/// An expression under a name.
template <class Name, std::uint64_t Spelling>
struct named_node : detail::stateful_expression {
  using detail::not_a_value::operator=;
  using node = named_node;
  using definition = detail::expression_with<Spelling>;
  using element_type = typename definition::element_type;
  using ops = typename definition::ops;
  static constexpr element type = definition::facts.type;

  static constexpr detail::node_facts make_facts() {
    detail::node_facts f = definition::facts;
    f.id = detail::hash_mix(detail::hash_text(Name::value), f.id);
    f.spelling = detail::hash_mix(detail::hash_text(Name::value), f.spelling);
    f.spelled = 1;
    f.is_leaf = false;
    f.holds_values = false;
    return f;
  }
  static constexpr detail::node_facts facts = make_facts();

  constexpr explicit named_node(detail::state_ref s)
      : detail::stateful_expression(static_cast<detail::state_ref&&>(s)) {}

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool alone, int parent, int child) {
    const int visit = b.visit(parent, child);
    if (b.meets(visit, facts, scope)) return b.node_at(visit);
    return b.name(visit, facts, scope, definition::node::put(b, scope, alone, visit, 0), Name::value);
  }
};

namespace detail {
template <class E>
struct name_is_an_argument {
  using reported = void;
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(ok == true, "[onto.name] a name is known to the compiler: named<\"h\">(x)");
};

template <class Name, class E>
constexpr auto make_named(Name, const E& e) {
  (void)sizeof(expression_entry<E::facts.spelling, E>);
  return named_node<Name, E::facts.spelling>{join_states(e.state.get())};
}
}  // namespace detail

/// Gives `e` a name in logs, errors and pictures. Two expressions of one name must have the same values.
template <fixed_string Name, expression E>
constexpr auto named(const E& e) {
  if constexpr (std::same_as<E, ill_formed>) {
    return e;
  } else {
    static_assert(Name.length() > 0, "[onto.name] a name has at least one character");
    return detail::make_named(detail::spelled<Name>(), e);
  }
}

// Where the name is an argument.
template <std::convertible_to<std::string_view> Name, expression E>
constexpr ill_formed named(const Name&, const E&) {
  static_cast<void>(static_cast<typename detail::name_is_an_argument<E>::reported*>(nullptr));
  return {};
}
template <expression E, std::convertible_to<std::string_view> Name>
constexpr ill_formed named(const E&, const Name&) {
  static_cast<void>(static_cast<typename detail::name_is_an_argument<E>::reported*>(nullptr));
  return {};
}

}  // namespace onto
