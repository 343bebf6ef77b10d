// SPDX-License-Identifier: BSL-1.0
// Control dependencies: `group(value, effects...)` is `value`, and whoever computes it does the effects too:
// assignments that a step of training makes, running statistics. Nothing is added to what runs but the effects
// themselves.
#pragma once

#include <onto/expr/boxed.hpp>

#include <type_traits>

namespace onto {

/// A value that is computed together with effects. Its node is that of the value.
template <class Value, class... Effects>
struct group_node : detail::stateful_expression {
  using detail::not_a_value::operator=;
  using node = group_node;
  using element_type = typename Value::element_type;
  using ops = typename detail::merge_ops<typename Value::ops, typename Effects::ops...>::type;
  static constexpr element type = Value::facts.type;

  static constexpr detail::node_facts make_facts() {
    detail::node_facts f = Value::facts;
    f.id = detail::hash_mix(0x67726f7570, f.id);
    f.spelling = detail::hash_mix(0x67726f7570, f.spelling);
    const auto also = [&](const detail::node_facts& e) {
      f.id = detail::hash_mix(f.id, e.id);
      f.spelling = detail::hash_mix(f.spelling, e.spelling);
      f.holds_values = f.holds_values || e.holds_values;
      f.spelled += e.spelled;
    };
    (also(Effects::facts), ...);
    ++f.spelled;
    f.is_leaf = false;
    return f;
  }
  static constexpr detail::node_facts facts = make_facts();

  constexpr explicit group_node(detail::state_ref s)
      : detail::stateful_expression(static_cast<detail::state_ref&&>(s)) {}

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool, int parent, int child) {
    const int visit = b.visit(parent, child);
    if (b.meets(visit, facts, scope)) return b.node_at(visit);
    int next = 0;
    const int nodes[] = {Value::node::put(b, scope, false, visit, next++),
                         Effects::node::put(b, scope, false, visit, next++)...};
    return b.group(visit, facts, scope, nodes[0]);
  }
};

/// An expression that is in the graph already when this is met: its type names none of the operations below it.
template <std::uint64_t Spelling>
struct earlier_node : detail::stateful_expression {
  using detail::not_a_value::operator=;
  using node = earlier_node;
  using definition = detail::expression_with<Spelling>;
  using element_type = typename definition::element_type;
  using ops = detail::op_list<>;
  static constexpr element type = definition::facts.type;

  static constexpr detail::node_facts make_facts() {
    detail::node_facts f = definition::facts;
    f.spelled = 1;
    return f;
  }
  static constexpr detail::node_facts facts = make_facts();

  constexpr explicit earlier_node(detail::state_ref s)
      : detail::stateful_expression(static_cast<detail::state_ref&&>(s)) {}

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool alone, int parent, int child) {
    return definition::node::put(b, scope, alone, parent, child);
  }
};

namespace detail {

template <class E>
constexpr auto earlier(const E& e) {
  if constexpr (E::facts.is_leaf) {
    return e;
  } else {
    (void)sizeof(expression_entry<E::facts.spelling, E>);
    return earlier_node<E::facts.spelling>{e.state};
  }
}

template <class Value, class... Effects>
type_box<group_node<Value, Effects...>> grouped(type_box<Value>, type_box<Effects>...);

}  // namespace detail

/// `value`; where it is computed, `effects` are too: assignments, which one run makes together. As TensorFlow's
/// `control_dependencies`. To a gradient it is `value`.
template <expression Value, expression... Effects>
constexpr auto group(const Value& value, const Effects&... effects) {
  if constexpr (detail::any_ill_formed<Value, Effects...>) {
    return ill_formed{};
  } else {
    using node =
        typename decltype(detail::grouped(detail::spelled_as<Value, detail::most_spelled_in_steps>(),
                                          detail::spelled_as<Effects, detail::most_spelled_in_steps>()...))::type;
    return node{detail::join_states(value.state.get(), effects.state.get()...)};
  }
}

}  // namespace onto
