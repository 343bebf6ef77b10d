// SPDX-License-Identifier: BSL-1.0
// Compound assignment to data: `total += sess.run(loss)` adds up as numbers do; tensors of other ranks do not change by
// operators, which make expressions of them.
#pragma once

#include <onto/expr/data.hpp>
#include <onto/expr/number.hpp>

#include <type_traits>

namespace onto {

namespace detail {

template <class Tensor>
struct tensor_does_not_change {
  using reported = void;
  static constexpr bool ok = sizeof(Tensor) == 0;
  static_assert(ok,
                "[onto.run] operators make expressions of a tensor, and do not change it: t = evaluate(t + x); a state "
                "that changes from run to run is a variable, assign_add(w, x)");
};

template <class T, class X>
struct integer_takes_no_fraction {
  using reported = void;
  static constexpr bool ok = sizeof(T) == 0;
  static_assert(ok, "[onto.element] a fraction is no integer: round it first, n += int(x)");
};

/// What stands on the right.
template <class X>
concept assigned_by = is_number<X> || data<X> || expression<X>;

/// A value of which C++ makes another by a number or an expression, which is told to have none.
template <class X>
concept counted_as_number = is_number<X> || is_number_tensor<X> || expression<X>;

/// `value` and `x` as numbers, the sum (or another operation) of which `value` becomes.
template <class T, class X, class F>
void assign_number(tensor<T>& value, const X& x, const F& f) {
  using number = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  if constexpr (std::is_integral_v<T> && std::is_floating_point_v<X>)
    static_cast<void>(static_cast<typename integer_takes_no_fraction<T, X>::reported*>(nullptr));
  else
    value = tensor<T>(static_cast<T>(f(static_cast<number>(value), static_cast<number>(x))));
}

}  // namespace detail

#define ONTO_COMPOUND_ASSIGNMENT(sign)                                                                               \
  template <class T, detail::assigned_by X>                                                                          \
    requires detail::is_number<T> && detail::counted_as_number<X> tensor<T>                                          \
  &operator sign##=(tensor<T>& value, const X& x) {                                                                  \
    detail::assign_number(value, x, [](auto a, auto b) { return a sign b; });                                        \
    return value;                                                                                                    \
  }                                                                                                                  \
  template <class T, int... Dims, detail::assigned_by X>                                                             \
    requires(sizeof...(Dims) > 0)                                                                                    \
  constexpr void operator sign##=(tensor<T, Dims...>&, const X&) {                                                   \
    static_cast<void>(static_cast<typename detail::tensor_does_not_change<tensor<T, Dims...>>::reported*>(nullptr)); \
  }
ONTO_COMPOUND_ASSIGNMENT(+)
ONTO_COMPOUND_ASSIGNMENT(-)
ONTO_COMPOUND_ASSIGNMENT(*)
ONTO_COMPOUND_ASSIGNMENT(/)
#undef ONTO_COMPOUND_ASSIGNMENT

}  // namespace onto
