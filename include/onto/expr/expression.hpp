// SPDX-License-Identifier: BSL-1.0
// Expressions: types that spell a graph. An operation over operands is `apply_node<Op, Operands...>`; everything else
// is derived.
#pragma once

#include <onto/expr/not_a_value.hpp>
#include <onto/expr/operation.hpp>
#include <onto/expr/state.hpp>

#include <cstdint>
#include <type_traits>

namespace onto {

namespace detail {

/// What every node of an expression says of itself.
struct node_facts {
  element type = element::float32;
  extents shape{};
  std::uint64_t id = 0;        // structural: equal expressions have equal ids
  std::uint64_t spelling = 0;  // of the type: that of a variable has its initial value, which is no part of its id
  bool holds_values = false;   // an unnamed scalar or constant is below it: equal types may have different values
  bool is_leaf = true;         // has no operands
  int spelled = 1;             // how many nodes the type's name spells out
};

/// The base of every expression. Each has a member `state`: its run-time state, if any.
struct expression_base : not_a_value {};

/// The base of expressions with run-time state.
struct stateful_expression : expression_base {
  state_ref state;

  constexpr stateful_expression() = default;
  constexpr stateful_expression(state_ref s) : state(static_cast<state_ref&&>(s)) {}
};

/// The base of expressions that never have any: trivial classes, for which the compiler writes no functions.
struct stateless_expression : expression_base {
  static constexpr no_state state{};
};

template <class... Ops>
struct op_list {
  static constexpr int size = sizeof...(Ops);
};

template <class List, class Op>
struct insert_op;
template <class... Ops, class Op>
struct insert_op<op_list<Ops...>, Op> {
  using type = std::conditional_t<(std::is_same_v<Ops, Op> || ...), op_list<Ops...>, op_list<Ops..., Op>>;
};

template <class A, class B>
struct merge_two;
template <class A>
struct merge_two<A, op_list<>> {
  using type = A;
};
template <class A, class First, class... Rest>
struct merge_two<A, op_list<First, Rest...>> {
  using type = typename merge_two<typename insert_op<A, First>::type, op_list<Rest...>>::type;
};

template <class... Lists>
struct merge_ops {
  using type = op_list<>;
};
template <class A>
struct merge_ops<A> {
  using type = A;
};
template <class A, class B, class... More>
struct merge_ops<A, B, More...> {
  using type = typename merge_ops<typename merge_two<A, B>::type, More...>::type;
};

}  // namespace detail

/// Anything that can be computed: symbols, constants, operations, scopes.
template <class E>
concept expression = __is_base_of(detail::expression_base, E);

namespace detail {

/// What a word asks of its operands, in place of a concept: a function template of a program's own that takes any type
/// would lose against a constrained one without a word, since C++ looks for both (argument-dependent lookup). So the
/// call is ambiguous.
template <bool Condition>
using only_if = std::enable_if_t<Condition, int>;

constexpr std::uint64_t hash_extents(std::uint64_t h, const extents& e) {
  for (int k = 0; k < e.rank; ++k) h = hash_mix(h, static_cast<std::uint64_t>(static_cast<std::int64_t>(e.dims[k])));
  return h;
}

template <int Count>
struct facts_list {
  const node_facts* of[Count + 1];
};

constexpr node_facts apply_facts(const op_info& op, element type, const node_facts* const* operands, int count) {
  node_facts f;
  f.type = type;
  f.is_leaf = count == 0;
  extents shapes[max_operands];
  f.id = hash_mix(op.hash, static_cast<std::uint64_t>(type));
  f.spelling = f.id;
  for (int k = 0; k < count; ++k) {
    const node_facts& x = *operands[k];
    if (k < max_operands) shapes[k] = x.shape;
    f.id = hash_mix(f.id, x.id);
    f.spelling = hash_mix(f.spelling, x.spelling);
    f.holds_values = f.holds_values || x.holds_values;
    f.spelled += x.spelled;
  }
  f.shape = op.infer(shapes, count < max_operands ? count : max_operands).shape;
  return f;
}

}  // namespace detail

/// The operation `Op` over operands: a node of the graph, as a type. The types are long and so are the names of what
/// belongs to them: no member is here that need not be.
template <class Op, class... X>
struct apply_node : detail::stateful_expression {
  using detail::not_a_value::operator=;
  using operation = Op;
  using node = apply_node;
  static constexpr element type = Op::result(X::facts.type...);
  using element_type = element_t<type>;
  using ops = typename detail::insert_op<typename detail::merge_ops<typename X::ops...>::type, Op>::type;

  static constexpr detail::node_facts facts = detail::apply_facts(
      op_info_of<Op>, type, detail::facts_list<static_cast<int>(sizeof...(X))>{{&X::facts..., nullptr}}.of,
      static_cast<int>(sizeof...(X)));

  /// Adds this node and what is below it to the graph; once, however often it is written.
  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool, int parent, int child) {
    const int visit = b.visit(parent, child);
    if (b.meets(visit, facts, scope)) return b.node_at(visit);
    if constexpr (sizeof...(X) == 0) {
      return b.add(visit, facts, op_info_of<Op>, scope, nullptr, 0);
    } else {
      int next = 0;
      const int operands[] = {X::node::put(b, scope, false, visit, next++)...};
      return b.add(visit, facts, op_info_of<Op>, scope, operands, static_cast<int>(sizeof...(X)));
    }
  }
};

/// What an expression becomes after the compiler has reported a mistake in it, so that one mistake is one error.
struct ill_formed : detail::stateful_expression {
  using node = ill_formed;
  using element_type = float;
  using ops = detail::op_list<>;
  static constexpr element type = element::float32;
  static constexpr detail::node_facts facts{};

  template <class Builder>
  static constexpr int put(Builder& b, place, bool, int, int) {
    return b.ill_formed();
  }

  // What else is asked of it is answered without a word: its value as a number, and another.
  constexpr operator double() const { return 0; }
  template <class X>
  constexpr const ill_formed& operator=(const X&) const {
    return *this;
  }
};

namespace detail {
template <class... E>
concept any_ill_formed = (__is_base_of(ill_formed, E) || ...);
}

}  // namespace onto
