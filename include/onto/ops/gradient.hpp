// SPDX-License-Identifier: BSL-1.0
// Gradients: automatic differentiation of a loss by variables, placeholders or whatever it is computed from.
#pragma once

#include <onto/expr/boxed.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/matmul.hpp>
#include <onto/ops/unary.hpp>
#include <onto/ops/view.hpp>

#include <tuple>
#include <type_traits>

namespace onto {

namespace op {
/// An operand by which nothing is derived. A reshape to the extents that it has.
template <int... Dims>
struct stop_gradient : reshape<Dims...> {
  static constexpr std::string_view name = "StopGradient";
  static constexpr bool flat = true;
};
/// An operand whose values are not kept for the gradient. A reshape to the extents that it has.
template <int... Dims>
struct recompute : reshape<Dims...> {
  static constexpr std::string_view name = "Recompute";
  static constexpr bool recomputed = true;
};
}  // namespace op

namespace detail {

template <class Op>
concept flat_operation = requires {
  requires Op::flat;
};
template <class Op>
concept recomputed_operation = requires {
  requires Op::recomputed;
};
template <class Op>
concept described_operation = requires {
  Op::infer(static_cast<const extents*>(nullptr), 0);
};

template <class Op>
concept has_derivative_of_one = requires(derived_value<> x) {
  Op::template derivative<0>(x, x, x);
};
template <class Op>
concept has_derivative_of_two = requires(derived_value<> x) {
  Op::template derivative<0>(x, x, x, x);
};
template <class Op>
concept has_derivative_of_three = requires(derived_value<> x) {
  Op::template derivative<0>(x, x, x, x, x);
};

constexpr int node_of(const no_derivative&) { return -1; }
template <class Ops, bool Truth>
constexpr int node_of(const derived_value<Ops, Truth>& v) {
  return v.at;
}

/// The rule of an operation: how its derivative is added to a graph, and the operations that it takes.
template <class Op>
struct derivative_of {
  using ops = op_list<>;
  static constexpr derivative_kind kind = flat_operation<Op>         ? derivative_kind::flat
                                          : recomputed_operation<Op> ? derivative_kind::recomputed
                                                                     : derivative_kind::structural;
  template <class Derivation>
  static constexpr int apply(Derivation&, int, int, int) {
    return -1;
  }
};

/// How many operands a rule names: one that names one is for each of any number.
template <class Op>
inline constexpr int derived_operands = has_derivative_of_one<Op>     ? 1
                                        : has_derivative_of_two<Op>   ? 2
                                        : has_derivative_of_three<Op> ? 3
                                                                      : 0;

/// The derivative by operand `K` of node `n`, whose gradient is `g`; `J` are the operands that the rule names.
template <class Op, int K, class Derivation, int... J>
constexpr auto derive_by(Derivation& d, int n, int first, int g, std::integer_sequence<int, J...>) {
  using value = derived_value<>;
  return Op::template derivative<K>(value(d, g), value(d, n), value(d, operand_of(d, n, first + J))...);
}

template <class Op>
  requires(derived_operands<Op> > 0 && !flat_operation<Op>)
struct derivative_of<Op> {
  static constexpr int count = derived_operands<Op>;
  using operands = std::make_integer_sequence<int, count>;

  template <int... K>
  static auto merge(std::integer_sequence<int, K...>) ->
      typename merge_ops<typename decltype(derive_by<Op, K>(std::declval<derivation&>(), 0, 0, 0,
                                                            operands{}))::ops...>::type;
  using ops = decltype(merge(operands{}));

  static constexpr derivative_kind kind = derivative_kind::rule;

  template <int K, class Derivation>
  static constexpr int at(Derivation& d, int n, int k, int g) {
    if constexpr (K + 1 < count)
      if (k != K) return at<K + 1>(d, n, k, g);
    return node_of(derive_by<Op, K>(d, n, count == 1 ? k : 0, g, operands{}));
  }
  template <class Derivation>
  static constexpr int apply(Derivation& d, int n, int k, int g) {
    return at<0>(d, n, k, g);
  }
};

/// Back to the type that was converted.
template <class To>
struct derivative_of<op::cast<To>> {
  using ops = op_list<op::cast<float>, op::cast<double>, op::cast<half>, op::cast<bfloat16>>;
  static constexpr derivative_kind kind = derivative_kind::rule;
  template <class Derivation>
  static constexpr int apply(Derivation& d, int n, int, int g) {
    switch (type_of(d, operand_of(d, n, 0))) {
      case element::float32: return convert<float>(d, g);
      case element::float64: return convert<double>(d, g);
      case element::float16: return convert<half>(d, g);
      case element::bfloat16: return convert<bfloat16>(d, g);
      default: return -1;
    }
  }
  template <class T, class Derivation>
  static constexpr int convert(Derivation& d, int g) {
    return derive_with<op::cast<T>>(derived_value<>(d, g)).at;
  }
};

template <class Op>
constexpr derivative_rule derivative_rule_of() {
  if constexpr (described_operation<Op>)
    return {op_info_of<Op>.hash, derivative_of<Op>::kind, &derivative_of<Op>::template apply<derivation>};
  else
    return {};  // a variable
}

template <class List>
struct derivatives_of;
template <class... Ops>
struct derivatives_of<op_list<Ops...>> {
  static constexpr derivative_rule list[] = {derivative_rule_of<Ops>()..., {}};
  static constexpr derivative_rules rules{list, static_cast<int>(sizeof...(Ops)), &derive_again<refinement>};
  using ops = typename merge_ops<typename derivative_of<Ops>::ops...>::type;
};

/// The operations, beside those of an expression and of its derivatives' rules, that these are made of.
using structural_derivative_ops =
    op_list<op::add, op::mul, op::div, op::neg, op::sub, op::exp, op::where, op::equal, op::logical_and,
            op::logical_not, op::logical_or, op::fill_like, op::fill<float>, op::fill<double>, op::fill<half>,
            op::fill<bfloat16>, op::zeros_like, op::matmul>;

}  // namespace detail

/// The derivative of a loss by one of the things that it is computed from.
template <class Loss, class Of>
struct gradient_node : detail::stateful_expression {
  using node = gradient_node;
  using element_type = typename Of::element_type;
  using derivatives = detail::derivatives_of<typename Loss::ops>;
  using ops = typename detail::merge_ops<typename Loss::ops, typename Of::ops, typename derivatives::ops,
                                         detail::structural_derivative_ops>::type;
  static constexpr element type = Of::facts.type;

  static constexpr detail::node_facts make_facts() {
    detail::node_facts f;
    f.type = type;
    f.shape = Of::facts.shape;
    f.id = detail::hash_mix(detail::hash_mix(0x67726164, Loss::facts.id), Of::facts.id);
    f.spelling = detail::hash_mix(detail::hash_mix(0x67726164, Loss::facts.spelling), Of::facts.spelling);
    f.holds_values = Loss::facts.holds_values || Of::facts.holds_values;
    f.is_leaf = false;
    f.spelled = 1 + Loss::facts.spelled + Of::facts.spelled;
    return f;
  }
  static constexpr detail::node_facts facts = make_facts();

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool, int parent, int child) {
    const int visit = b.visit(parent, child);
    if (b.meets(visit, facts, scope)) return b.node_at(visit);
    const int loss = Loss::node::put(b, scope, false, visit, 0);
    const int of = Of::node::put(b, scope, false, visit, 1);
    return derive_gradient(b, visit, facts, scope, loss, of, derivatives::rules);
  }
};

namespace detail {

// One struct a mistake, as in shape_check.hpp.
template <class Shape>
struct loss_is_not_one_number : mistake {
  static constexpr bool ok = sizeof(Shape) > 99;
  static_assert(ok == true, "[onto.gradient] the loss is not a single number; take sum(x) or mean(x) of it");
};
template <class Loss, class W>
struct loss_is_first : mistake {
  static constexpr bool ok = sizeof(Loss) > 99;
  static_assert(ok == true, "[onto.gradient] the loss comes first, then what it is derived by: gradient(loss, w)");
};
template <class Loss>
struct gradient_is_by_something : mistake {
  static constexpr bool ok = sizeof(Loss) == 0;
  static_assert(ok == true,
                "[onto.gradient] a gradient is by something: gradient(loss, w); by several: gradients(loss, w, b)");
};
template <class... X>
struct gradient_is_not_by_a_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.gradient] a gradient is by the variable itself, not by its name: gradient(loss, w), "
                "gradients(loss, w, b)");
};
template <class Element>
struct nothing_to_derive : mistake {
  static constexpr bool ok = sizeof(Element) > 99;
  static_assert(ok == true,
                "[onto.gradient] the loss, or what it is derived by, is not of floating point; use cast<float>(x)");
};

template <class Loss, class Of>
type_box<gradient_node<Loss, Of>> gradient_by(type_box<Loss>, type_box<Of>);

}  // namespace detail

/// The derivative of `loss`, a single number, by `w`: an expression of the shape and element type of `w`. `w` is a
/// variable, a placeholder or any expression that `loss` is computed from. What the loss needs is not computed again;
/// the gradient's operations run where those of the loss do. Ties and edges are JAX's: docs/reference/gradients.md.
/// *Mandates* a floating-point loss of rank 0 that depends on `w` by operations that have derivatives.
/// *Complexity* linear in the nodes of the loss.
template <class Loss, class W, detail::only_if<(expression<Loss> && expression<W>)> = 0>
constexpr auto gradient(const Loss& loss, const W& w) {
  if constexpr (detail::any_ill_formed<Loss, W>) {
    return ill_formed{};
  } else if constexpr (Loss::facts.is_leaf && !W::facts.is_leaf && W::facts.shape.rank == 0) {
    return typename detail::loss_is_first<Loss, W>::result{};
  } else if constexpr (Loss::facts.shape.rank != 0) {
    return typename detail::loss_is_not_one_number<detail::shape_of_t<Loss>>::result{};
  } else if constexpr (!is_floating(Loss::facts.type) || !is_floating(W::facts.type)) {
    return typename detail::nothing_to_derive<typename W::element_type>::result{};
  } else {
    using node = typename decltype(detail::gradient_by(detail::spelled_as<Loss, detail::most_spelled_in_steps>(),
                                                       detail::spelled_as<W>()))::type;
    return node{detail::join_states(loss.state.get(), w.state.get())};
  }
}

/// The derivatives by several: `auto [dw, db] = gradients(loss, w, b)`.
template <expression Loss, expression... W>
  requires(sizeof...(W) > 0)
constexpr auto gradients(const Loss& loss, const W&... w) { return std::tuple{gradient(loss, w)...}; }

/// The loss and its derivatives: `auto [value, dw, db] = value_and_gradient(loss, w, b)`.
template <expression Loss, expression... W>
  requires(sizeof...(W) > 0)
constexpr auto value_and_gradient(const Loss& loss, const W&... w) { return std::tuple{loss, gradient(loss, w)...}; }

#define ONTO_IS_BY_VARIABLES(word)                                    \
  template <class Loss>                                               \
  constexpr auto word(const Loss&) {                                  \
    return typename detail::gradient_is_by_something<Loss>::result{}; \
  }                                                                   \
  template <expression Loss, class... W>                              \
    requires(std::is_convertible_v<const W&, const char*> || ...)     \
  constexpr auto word(const Loss&, const W&...) { return typename detail::gradient_is_not_by_a_name<Loss>::result{}; }
ONTO_IS_BY_VARIABLES(gradient)
ONTO_IS_BY_VARIABLES(gradients)
ONTO_IS_BY_VARIABLES(value_and_gradient)
#undef ONTO_IS_BY_VARIABLES

namespace detail {

/// A reshape to the extents that `x` has: nothing moves.
template <template <int...> class Op, expression E>
constexpr auto marked(const E& x) {
  return [&]<int... K>(std::integer_sequence<int, K...>) { return make<Op<same_as_axis(K)...>>(x); }
  (std::make_integer_sequence<int, E::facts.shape.rank>{});
}

}  // namespace detail

/// `x` itself, by which nothing is derived: to a gradient it is a constant.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto stop_gradient(const E& x) {
  return detail::marked<op::stop_gradient>(x);
}

/// `x` itself, whose values are computed again for the gradient instead of kept until then (rematerialization,
/// gradient checkpointing): less memory, more operations. Computed again is what nothing but `x` needs, down to what is
/// kept: symbols, what is used elsewhere too, and other `recompute`d values. `plan_of(e).peak_bytes` shows it.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto recompute(const E& x) {
  return detail::marked<op::recompute>(x);
}

}  // namespace onto
