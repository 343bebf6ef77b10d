// SPDX-License-Identifier: BSL-1.0
// New values for variables: `assign`, `assign_add`, `assign_sub`. Their result is the new value.
#pragma once

#include <onto/expr/constant.hpp>
#include <onto/expr/scope.hpp>
#include <onto/expr/symbol.hpp>
#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>

namespace onto {

namespace op {

/// Operands: a variable and what it is given, which is broadcast to the variable's shape.
template <element_set Accepted>
struct writes_variable : detail::keeps_element<Accepted> {
  static constexpr op_kind kind = op_kind::assign;
  static constexpr int cost = 1;
  // As variables: int32 state stays in host memory.
  static constexpr kernel_set kernels{Accepted, static_cast<element_set>(Accepted & ~element_bit(element::int32))};
  static constexpr bool packs = true;
  static constexpr bool never_throws = true;

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    bool ok = true;
    const extents held = broadcast_into(operands[0], operands[1], ok);
    return {held, ok ? shape_fault::none : shape_fault::value};
  }
  ONTO_END_RUNS_ONCE
};

struct assign : writes_variable<all_elements> {
  static constexpr std::string_view name = "Assign";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T, T value) {
    return value;
  }
};

struct assign_add : writes_variable<numeric_elements> {
  static constexpr std::string_view name = "AssignAdd";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T old, T value) {
    return math::add(old, value);
  }
};

struct assign_sub : writes_variable<numeric_elements> {
  static constexpr std::string_view name = "AssignSub";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T old, T value) {
    return math::subtract(old, value);
  }
};

}  // namespace op

namespace detail {

template <class E>
inline constexpr bool is_variable = false;
template <class Name, class Initial, class T, int... Dims>
inline constexpr bool is_variable<variable_node<Name, Initial, T, Dims...>> = true;
template <class Device, class E>
inline constexpr bool is_variable<placed_node<Device, E>> = is_variable<E>;

template <class Op, class E>
struct not_a_variable : mistake {
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(
      ok == true,
      "[onto.variable] only a variable, or on<D>(variable), can be assigned to; make one with variable<\"w\", T, ...>");
};

/// The operand that is written to, unless it is none that can be.
template <class Op, class E>
constexpr auto written(const E& w) {
  if constexpr (is_variable<E> || any_ill_formed<E>) {
    return w;
  } else {
    return typename not_a_variable<Op, E>::result{};
  }
}

}  // namespace detail

/// Gives `variable` the values of `x`, an expression or a scalar, broadcast to its shape. Runs where the variable is.
/// *Mandates* a variable, or `on<D>(variable)`, the same element type, and a shape that broadcasts to the variable's.
/// *Throws* `invalid_argument_error` where an integer does not fit the variable's integers.
template <expression Variable, detail::operand X>
[[nodiscard("an assignment is an expression: it assigns when it is run")]] constexpr auto assign(
    const Variable& variable, const X& x) {
  return make<op::assign>(detail::written<op::assign>(variable), detail::lift<Variable>(x));
}

/// Adds `x` to the variable, as `assign`.
template <expression Variable, detail::operand X>
[[nodiscard("an assignment is an expression: it assigns when it is run")]] constexpr auto assign_add(
    const Variable& variable, const X& x) {
  return make<op::assign_add>(detail::written<op::assign_add>(variable), detail::lift<Variable>(x));
}

/// Subtracts `x` from the variable, as `assign`.
template <expression Variable, detail::operand X>
[[nodiscard("an assignment is an expression: it assigns when it is run")]] constexpr auto assign_sub(
    const Variable& variable, const X& x) {
  return make<op::assign_sub>(detail::written<op::assign_sub>(variable), detail::lift<Variable>(x));
}

namespace detail {
/// What a variable's values are in braces.
template <class Variable>
using braces_beside = typename braces<typename Variable::element_type, Variable::facts.shape.rank>::list;
template <expression Variable>
auto constant_for(const braces_beside<Variable>& values) {
  return constant_in_braces<typename Variable::element_type>(shape_of_t<Variable>{}, values);
}
}  // namespace detail

/// Values in braces, of the variable's shape: `assign(w, {1, 2, 3})`.
template <expression Variable>
  requires(Variable::facts.shape.rank > 0)
auto assign(const Variable& variable, detail::braces_beside<Variable> values) {
  return assign(variable, detail::constant_for<Variable>(values));
}
template <expression Variable>
  requires(Variable::facts.shape.rank > 0)
auto assign_add(const Variable& variable, detail::braces_beside<Variable> values) {
  return assign_add(variable, detail::constant_for<Variable>(values));
}
template <expression Variable>
  requires(Variable::facts.shape.rank > 0)
auto assign_sub(const Variable& variable, detail::braces_beside<Variable> values) {
  return assign_sub(variable, detail::constant_for<Variable>(values));
}

}  // namespace onto
