// SPDX-License-Identifier: BSL-1.0
// What runs where a variable is, whatever else would place it: an optimizer's update of it, and its first value.
#pragma once

#include <onto/expr/boxed.hpp>
#include <onto/expr/symbol.hpp>

#include <cstdint>

namespace onto {

/// What runs where a variable is: the effects of a step on it, which follow from its gradient; or, without one, its
/// first value, but for what says itself where it runs.
template <class W, std::uint64_t Gradient, class E>
struct update_node : detail::stateful_expression {
  using detail::not_a_value::operator=;
  using node = update_node;
  using element_type = typename E::element_type;
  using ops = typename E::ops;
  static constexpr element type = E::facts.type;
  static constexpr std::uint64_t no_gradient = 0;

  static constexpr detail::node_facts make_facts() {
    detail::node_facts f = E::facts;
    f.id = detail::hash_mix(0x757064617465, f.id);
    f.spelling = detail::hash_mix(detail::hash_mix(0x757064617465, f.spelling), Gradient);
    ++f.spelled;
    f.is_leaf = false;
    return f;
  }
  static constexpr detail::node_facts facts = make_facts();

  constexpr explicit update_node(detail::state_ref s)
      : detail::stateful_expression(static_cast<detail::state_ref&&>(s)) {}

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool, int parent, int child) {
    const int visit = b.visit(parent, child);
    const int first = b.nodes.size();
    const int node = E::node::put(b, scope, false, visit, 0);
    if constexpr (Gradient == no_gradient)
      b.begin_with_variable(first, W::facts);
    else
      b.run_with_variable(first, W::facts, op_info_of<op::variable>, detail::expression_with<Gradient>::facts, scope);
    return b.leave(visit, node);
  }
};

namespace detail {

template <class W, std::uint64_t Gradient, class E>
type_box<update_node<W, Gradient, E>> updated_by(type_box<E>);

template <class W, class Gradient, class E>
constexpr auto update(const E& e) {
  using node = typename decltype(updated_by<W, Gradient::facts.spelling>(spelled_as<E>()))::type;
  return node{join_states(e.state.get())};
}

template <class W, class E>
using first_value_node = typename decltype(updated_by<W, 0>(type_box<E>{}))::type;

}  // namespace detail

}  // namespace onto
