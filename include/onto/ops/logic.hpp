// SPDX-License-Identifier: BSL-1.0
// Logic on tensors of bool, the choice between two tensors, and conversion of element types.
#pragma once

#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>

namespace onto {

namespace op {

struct logical_and : detail::packed_elementwise<boolean_elements> {
  static constexpr std::string_view name = "LogicalAnd";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T a, T b) {
    return a && b;
  }
};

struct logical_or : detail::packed_elementwise<boolean_elements> {
  static constexpr std::string_view name = "LogicalOr";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T a, T b) {
    return a || b;
  }
};

struct logical_not : detail::packed_elementwise<boolean_elements> {
  static constexpr std::string_view name = "LogicalNot";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    return !x;
  }
};

/// A condition and two operands of one element type.
struct where : detail::packed_elementwise<elements_and_text>, detail::integer_packs {
  static constexpr std::string_view name = "Select";

  static constexpr detail::element_check check(element condition, element a, element b) {
    if (condition != element::boolean) return detail::element_check::unsupported;
    return detail::check_same(elements_and_text, a, b);
  }
  static constexpr element result(element, element a, element) { return a; }

  template <class Condition, class T>
  ONTO_HD ONTO_INLINE static T apply(Condition condition, T a, T b) {
    using math::select;
    return select(condition, a, b);
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto condition, auto, auto) {
    if constexpr (K == 0)
      return no_derivative{};
    else if constexpr (K == 1)
      return make<where>(condition, g, 0);
    else
      return make<where>(condition, 0, g);
  }
};

/// The elements as `To`: to half and bfloat16 the one operation that rounds inside a kernel, and has no form for packs.
template <tensor_element To>
struct cast : elementwise<all_elements>, detail::integer_packs {
  static constexpr std::string_view name = "Cast";
  static constexpr bool never_throws = true;
  static constexpr bool packs = !is_half_precision(element_of<To>);

  static constexpr element result(element) { return element_of<To>; }

  template <class T>
  ONTO_HD ONTO_INLINE static auto apply(T x) {
    using math::convert;
    return convert<To>(x);
  }
};

}  // namespace op

/// Where both are true. Both are computed. One operand may be a scalar.
/// *Mandates* operands of bool whose shapes broadcast.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator&&(const L& l, const R& r) { return make<op::logical_and>(l, r); }

/// Where one or both are true, as `&&`.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator||(const L& l, const R& r) { return make<op::logical_or>(l, r); }

/// Where the operand is false.
template <expression E>
constexpr auto operator!(const E& x) {
  return make<op::logical_not>(x);
}

namespace detail {
template <class Element>
struct condition_is_of_numbers : mistake {
  static constexpr bool ok = sizeof(Element) == 0;
  static_assert(ok == true,
                "[onto.element] where chooses by truth values, and the condition is of another type; compare it: "
                "where(x > 0, a, b), or cast<bool>(x)");
};
}  // namespace detail

/// The elements of `a` where `condition` is true, else those of `b`. All three are broadcast; `a` and `b` may be
/// scalars, of which an integer takes the other's type. *Mandates* a condition of bool, and `a` and `b` of one element
/// type. *Throws* `invalid_argument_error`
/// where an integer does not fit the integers beside it.
template <class Condition, class A, class B,
          detail::only_if<(expression<Condition> && detail::operand<A> && detail::operand<B>)> = 0>
constexpr auto where(const Condition& condition, const A& a, const B& b) {
  if constexpr (detail::is_derived<Condition> || detail::is_derived<A> || detail::is_derived<B>) {
    return make<op::where>(condition, a, b);
  } else if constexpr (!detail::any_ill_formed<Condition> && !std::is_same_v<typename Condition::element_type, bool>) {
    return typename detail::condition_is_of_numbers<typename Condition::element_type>::result{};
  } else if constexpr (expression<A>) {
    return make<op::where>(condition, a, detail::lift<A>(b, op::where::name));
  } else if constexpr (expression<B>) {
    return make<op::where>(condition, detail::lift<B>(a, op::where::name), b);
  } else if constexpr (std::is_floating_point_v<A> != std::is_floating_point_v<B> && std::is_arithmetic_v<A> &&
                       std::is_arithmetic_v<B>) {
    using number = std::common_type_t<A, B>;  // as that of c ? 1.5 : 0
    return make<op::where>(condition, detail::scalar_beside<number>(a), detail::scalar_beside<number>(b));
  } else {
    return make<op::where>(condition, detail::lift_alone(a), detail::lift_alone(b));
  }
}

/// The elements as `To`. Floating point to integer is cut off towards zero; outside the range it is the nearest integer
/// there is, and NaN is 0. To bool: whether the element is not 0. A narrower integer keeps the low bits. Half and
/// bfloat16 are rounded, even where `x` is of that type: inside a kernel its values are floats.
template <tensor_element To, expression E>
constexpr auto cast(const E& x) {
  if constexpr (detail::is_derived<E>) {
    return make<op::cast<To>>(x);
  } else {
    constexpr bool is_rounded = !is_half_precision(element_of<To>) || E::facts.is_leaf;
    if constexpr (std::is_same_v<typename E::element_type, To> && is_rounded) {
      return x;
    } else {
      return make<op::cast<To>>(x);
    }
  }
}

}  // namespace onto
