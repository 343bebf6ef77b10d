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
  static_assert(ok == true,
                "[onto.run] operators make expressions of a tensor, and do not change it: t = evaluate(t + x); a state "
                "that changes from run to run is a variable, assign_add(w, x)");
};

template <class T, class X>
struct integer_takes_no_fraction {
  using reported = void;
  static constexpr bool ok = sizeof(T) == 0;
  static_assert(ok == true, "[onto.element] a fraction is no integer: round it first, n += int(x)");
};

/// What stands beside a number: one, a tensor of rank 0, or an expression, which is told to have no value yet.
template <class X>
concept beside_number = is_number<X> || is_number_tensor<X> || expression<X>;
/// What stands beside a tensor of another rank.
template <class X>
concept beside_tensor = is_number<X> || data<X> || expression<X>;

/// Whether a number may have a fraction.
template <class X>
inline constexpr bool has_fraction = is_number<X> && !std::is_integral_v<X>;
template <class T>
inline constexpr bool has_fraction<tensor<T>> = has_fraction<T>;
template <class T>
inline constexpr bool has_fraction<tensor_ref<T>> = has_fraction<T>;

/// `value` and `x` as numbers, the sum (or another operation) of which `value` becomes.
template <class T, class X, class F>
void assign_number(tensor<T>& value, const X& x, const F& f) {
  using number = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  if constexpr (std::is_integral_v<T> && has_fraction<X>)
    static_cast<void>(static_cast<typename integer_takes_no_fraction<T, X>::reported*>(nullptr));
  else
    value = tensor<T>(static_cast<T>(f(static_cast<number>(value), static_cast<number>(x))));
}

}  // namespace detail

#define ONTO_COMPOUND_ASSIGNMENT(sign)                                                                               \
  template <class T, detail::beside_number X>                                                                        \
    requires(detail::is_number<T>)                                                                                   \
  tensor<T>                                                                                                          \
  &operator sign##=(tensor<T>& value, const X& x) {                                                                  \
    detail::assign_number(value, x, [](auto a, auto b) { return a sign b; });                                        \
    return value;                                                                                                    \
  }                                                                                                                  \
  template <class T, int... Dims, detail::beside_tensor X>                                                           \
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
