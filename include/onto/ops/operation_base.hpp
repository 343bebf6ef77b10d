// SPDX-License-Identifier: BSL-1.0
// What families of operations share: how operands' element types are checked, how shapes combine, how scalars join in.
#pragma once

#include <onto/expr/number.hpp>
#include <onto/expr/shape_check.hpp>
#include <onto/expr/symbol.hpp>
#include <onto/shape/broadcast.hpp>

#include <string_view>

namespace onto {

namespace detail {

ONTO_BEGIN_RUNS_ONCE
constexpr inferred broadcast_all(const extents* operands, int count) {
  inferred r;
  if (count > 0) r.shape = operands[0];
  bool ok = true;
  for (int k = 1; k < count; ++k) r.shape = broadcast(r.shape, operands[k], ok);
  if (!ok) r.fault = shape_fault::broadcast;
  return r;
}
ONTO_END_RUNS_ONCE

/// All operands of one element type, which is in `accepted`.
template <class... Rest>
constexpr element_check check_same(element_set accepted, element first, Rest... rest) {
  if (((rest != first) || ...)) return element_check::differ;
  return (accepted & element_bit(first)) ? element_check::fine : element_check::unsupported;
}

}  // namespace detail

/// The base of elementwise operations whose operands and result have one element type. Your own operation is a struct
/// that derives from it, with a `name` and an `apply`; write it with `call<Op>(x...)`.
template <element_set Accepted = numeric_elements, int Cost = 1>
struct elementwise {
  static constexpr op_kind kind = op_kind::map;
  static constexpr int cost = Cost;
  static constexpr kernel_set kernels = kernel_set::of(Accepted);

  /// Whether `apply` takes SIMD packs as well as scalars: it has no branch on data and finds its functions by argument.
  static constexpr bool packs = false;

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int count) { return detail::broadcast_all(operands, count); }
  ONTO_END_RUNS_ONCE

  template <class... E>
  static constexpr detail::element_check check(E... operands) {
    return detail::check_same(Accepted, operands...);
  }
  template <class... E>
  static constexpr element result(element first, E...) {
    return first;
  }
};

namespace detail {

/// The base of the built-in elementwise operations: `apply` takes scalars, and on the host packs of float and double.
template <element_set Accepted = numeric_elements, int Cost = 1>
struct packed_elementwise : elementwise<Accepted, Cost> {
  static constexpr bool packs = true;
  static constexpr bool never_throws = true;
};

/// The base of operations of one operand that take every element type and keep it.
template <element_set Accepted>
struct keeps_element {
  static constexpr kernel_set kernels = kernel_set::of(Accepted);

  template <class... E>
  static constexpr element_check check(E... operands) {
    return check_same(Accepted, operands...);
  }
  template <class... E>
  static constexpr element result(element first, E...) {
    return first;
  }
};

// One struct a mistake, as in shape_check.hpp.
template <class Element, class Scalar>
struct scalar_never_converts : mistake {
  static constexpr bool ok = sizeof(Scalar) > 99;
  static_assert(
      ok == true,
      "[onto.element] bool and numbers do not convert into each other; write the scalar in the tensor's type, "
      "and 0 < x < 1 as (0 < x) & (x < 1)");
};
template <int Count>
struct too_many_operands : mistake {
  static constexpr bool ok = Count <= 0;
  static_assert(ok == true, "[onto.operands] an operation takes at most 64 operands; combine them in groups");
};

/// What may stand beside an expression in an elementwise operation.
template <class X>
concept operand = expression<X> || scalar_value<X> || number_in_type<X>;

// The library compares enumerators and texts all over, and its operators are asked first: nothing is instantiated to
// refuse them.
template <class L, class R>
concept operands = (expression<L> || expression<R>)&&operand<L>&& operand<R>;

template <class X>
inline constexpr bool is_fraction = !std::is_integral_v<X>;

/// `x` itself where it is an expression; a scalar becomes a node of the element type of `Beside`, for `op`.
template <class Beside, class X>
constexpr decltype(auto) lift(const X& x, std::string_view op) {
  if constexpr (expression<X>) {
    return (x);
  } else if constexpr (is_number_tensor<X>) {
    return lift<Beside>(number_in(x), op);
  } else if constexpr (any_ill_formed<Beside>) {
    return ill_formed{};
  } else if constexpr (std::is_same_v<typename Beside::element_type, text>) {
    return typename text_is_no_number<X, text>::result{};
  } else if constexpr (std::is_same_v<X, bool> != std::is_same_v<typename Beside::element_type, bool>) {
    return typename scalar_never_converts<typename Beside::element_type, X>::result{};
  } else if constexpr (number_in_type<X>) {
    return literal_beside<typename Beside::element_type, X>();
  } else if constexpr (is_fraction<X> && std::is_integral_v<typename Beside::element_type>) {
    return typename fraction_beside_integers<typename Beside::element_type, X>::result{};
  } else {
    return scalar_beside<typename Beside::element_type>(x, op);
  }
}

/// A scalar beside no expression has its own type.
template <class X>
constexpr auto lift_alone(const X& x) {
  if constexpr (number_in_type<X>)
    return literal_beside<std::remove_const_t<decltype(X::value)>, X>();
  else
    return scalar_beside<X>(x);
}

/// The axis counted from the front where `E` has it; else as it was given, for the error to show.
template <int Axis, class E>
inline constexpr int axis_in = normalize_axis(Axis, E::facts.shape.rank) < 0
                                   ? Axis
                                   : normalize_axis(Axis, E::facts.shape.rank);

}  // namespace detail

}  // namespace onto
