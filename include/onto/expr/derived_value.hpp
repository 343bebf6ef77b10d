// SPDX-License-Identifier: BSL-1.0
// Values in the rule of a derivative: nodes of a graph that is being made. The operations' own words and operators take
// them, and so a rule reads like a program: `g * make<op::cos>(x)`.
#pragma once

#include <onto/expr/expression.hpp>

#include <cstdint>
#include <utility>

namespace onto {

namespace op {
struct where;  // in ops/logic.hpp
}

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

/// A node of the graph that a derivation adds to. `Ops`: the operations that made it of nodes that were there. `Truth`:
/// whether it was made by a comparison.
template <class Ops = detail::op_list<>, bool Truth = false>
struct derived_value : detail::derived_base {
  using ops = Ops;
  static constexpr bool truth = Truth;
  detail::derivation* in;
  int at;

  constexpr derived_value(detail::derivation& d, int node) : in(&d), at(node) {}
};

/// What a rule returns for an operand by which the result does not change.
struct no_derivative : detail::derived_base {
  using ops = detail::op_list<>;
  static constexpr bool truth = false;
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

/// The type of a number beside a value: its own; beside truth values, that of what was compared.
template <class Derivation>
constexpr element number_type(const Derivation& d, int n) {
  while (type_of(d, n) == element::boolean && d[n].count > 0) n = operand_of(d, n, 0);
  return type_of(d, n);
}

/// A node for an operand of `make` in a rule: a value itself, or a number of the type of the value beside it.
template <class Beside, class X>
constexpr int derived_operand(const Beside& beside, const X& x) {
  if constexpr (is_derived<X>)
    return x.at;
  else
    return beside.in->number(std::is_same_v<X, bool> ? element::boolean : number_type(*beside.in, beside.at),
                             static_cast<double>(x));
}

/// The type of an operand, as far as the compiler knows it: whether it is of truth values.
template <class X>
constexpr element likely_type() {
  if constexpr (is_derived<X>)
    return X::truth ? element::boolean : element::float32;
  else
    return std::is_same_v<X, bool> ? element::boolean : element::float32;
}
template <class X>
inline constexpr bool is_truth = false;
template <class X>
  requires is_derived<X>
inline constexpr bool is_truth<X> = X::truth;

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

template <class Op, class... X>
constexpr auto derive_with(const X&... x);

/// Truth values among numbers are 1 and 0.
template <class X>
constexpr auto as_number(const X& x) {
  if constexpr (is_truth<X>)
    return derive_with<op::where>(x, 1, 0);
  else
    return x;
}

/// The operation `Op` over values of a rule.
template <class Op, class... X>
constexpr auto derive_with(const X&... x) {
  constexpr auto found = Op::check(likely_type<X>()...);
  if constexpr ((is_truth<X> || ...) && found != decltype(found)::fine) {
    return derive_with<Op>(as_number(x)...);
  } else {
    using ops = typename insert_op<typename merge_ops<typename ops_of_operand<X>::type...>::type, Op>::type;
    const auto& beside = last_derived(x...);
    const int nodes[] = {derived_operand(beside, x)...};
    auto& d = *beside.in;
    const element type = [&]<std::size_t... K>(std::index_sequence<K...>) { return Op::result(d.type_of(nodes[K])...); }
    (std::index_sequence_for<X...>{});
    constexpr bool truth = Op::result(likely_type<X>()...) == element::boolean;
    return derived_value<ops, truth>(d, d.apply(op_info_of<Op>, type, nodes, static_cast<int>(sizeof...(X))));
  }
}

}  // namespace detail

}  // namespace onto
