// SPDX-License-Identifier: BSL-1.0
// Values in the rule of a derivative: nodes of a graph that is being made. The operations' own words and operators take
// them, and so a rule reads like a program: `g * make<op::cos>(x)`.
#pragma once

#include <onto/expr/expression.hpp>

#include <cstdint>
#include <utility>

namespace onto {

namespace detail {

// In graph/derivation.hpp.
class derivation;
class refinement;
template <class Derivation>
constexpr int operand_of(const Derivation& d, int n, int k) {
  return d.operand(n, k);
}
template <class Derivation>
constexpr element type_of(const Derivation& d, int n) {
  return d.type_of(n);
}
// In session/derive_again.hpp.
template <class Refinement>
int derive_again(Refinement& r, int visit, int loss, int of);

struct derived_base : expression_base {};

}  // namespace detail

/// A node of the graph that a derivation adds to. `Ops`: the operations that made it of nodes that were there.
template <class Ops = detail::op_list<>>
struct derived_value : detail::derived_base {
  using ops = Ops;
  detail::derivation* in;
  int at;

  constexpr derived_value(detail::derivation& d, int node) : in(&d), at(node) {}
};

/// What a rule returns for an operand by which the result does not change.
struct no_derivative : detail::derived_base {
  using ops = detail::op_list<>;
};

namespace detail {

template <class X>
inline constexpr bool is_derived = __is_base_of(derived_base, X);

/// How the gradient passes one operation.
enum class derivative_kind : unsigned char {
  missing,     ///< it has none that is known
  flat,        ///< it is 0 wherever there is one: rounding, signs
  structural,  ///< by the kind of operation: graph/structural_derivatives.hpp
  rule,        ///< the operation says it
  recomputed,  ///< it passes: what only it needs is computed again for the gradient
};

/// The derivative of one operation as a value. `apply` adds the gradient by operand `k` of node `n`, whose own gradient
/// is `g`, and returns its node, or -1 for none.
struct derivative_rule {
  std::uint64_t op = 0;  // the hash of the operation
  derivative_kind kind = derivative_kind::missing;
  int (*apply)(derivation& d, int n, int k, int g) = nullptr;
};

/// Those of all operations of an expression.
struct derivative_rules {
  const derivative_rule* rules = nullptr;
  int count = 0;
  int (*again)(refinement& r, int visit, int loss, int of) = nullptr;  // the same over nodes that values tell apart

  constexpr derivative_rule find(std::uint64_t op) const {
    for (int k = 0; k < count; ++k)
      if (rules[k].op == op) return rules[k];
    return {};
  }
};

/// A node for an operand of `make` in a rule: a value itself, or a number of the type of the value beside it.
template <class Beside, class X>
constexpr int derived_operand(const Beside& beside, const X& x) {
  if constexpr (is_derived<X>)
    return x.at;
  else
    return beside.in->number(beside.in->type_of(beside.at), static_cast<double>(x));
}

template <class X>
struct ops_of_operand {
  using type = op_list<>;
};
template <class X>
  requires is_derived<X>
struct ops_of_operand<X> {
  using type = typename X::ops;
};

/// The last value among operands: that of `where` which is no condition.
template <class First, class... More>
constexpr const auto& last_derived(const First& first, const More&... more) {
  if constexpr ((is_derived<More> || ...))
    return last_derived(more...);
  else
    return first;
}

/// The operation `Op` over values of a rule.
template <class Op, class... X>
constexpr auto derive_with(const X&... x) {
  using ops = typename insert_op<typename merge_ops<typename ops_of_operand<X>::type...>::type, Op>::type;
  const auto& beside = last_derived(x...);
  const int nodes[] = {derived_operand(beside, x)...};
  auto& d = *beside.in;
  const element type = [&]<std::size_t... K>(std::index_sequence<K...>) { return Op::result(d.type_of(nodes[K])...); }
  (std::index_sequence_for<X...>{});
  return derived_value<ops>(d, d.apply(op_info_of<Op>, type, nodes, static_cast<int>(sizeof...(X))));
}

}  // namespace detail

}  // namespace onto
