// SPDX-License-Identifier: BSL-1.0
// What C++ does with values and cannot do with expressions: test them, index them, change them. Each is one sentence.
#pragma once

#include <onto/core/element.hpp>
#include <onto/core/member_words.hpp>

#include <type_traits>

namespace onto {
template <tensor_element T, int... Dims>
class tensor;
}  // namespace onto

namespace onto::detail {

// One struct a mistake: its name and arguments are what the compiler prints.
template <class To>
struct expression_has_no_value_yet {
  using reported = void;
  static constexpr bool ok = sizeof(To) == 0;
  static_assert(
      ok == true,
      "[onto.run] an expression has no value before it is run; take that of sess.run(e) or evaluate(e), of a "
      "comparison all(x < y), choose by element with where(condition, a, b), and write exp(x), not std::exp(x); nor is "
      "it one of another type: const auto y = exp(x), and if constexpr (c), not c ? x : y");
};
template <class... Index>
struct expression_is_not_indexed {
  using result = std::conditional_t<(sizeof...(Index) > 99), void, ill_formed>;
  static constexpr bool ok = (... || (sizeof(Index) == 0));
  static_assert(ok == true,
                "[onto.run] an expression has no elements before it is run; index the result, or take a part with "
                "slice<begin, end>(x) or take<0>(x, number), and of what a condition chooses where(x > 0, x, 0)");
};
template <class... Argument>
struct expression_is_not_called {
  using result = std::conditional_t<(sizeof...(Argument) > 99), void, ill_formed>;
  static constexpr bool ok = (... || (sizeof(Argument) == 0));
  static_assert(ok == true,
                "[onto.run] an expression has no elements before it is run; index the result, or take a part with "
                "slice<begin, end>(x); a placeholder is fed, sess.run(e, x = 3)");
};
template <class... Argument>
struct expression_has_no_extents_yet {
  using result = instead_of_call<Argument...>;
  static constexpr bool ok = sizeof...(Argument) > 99;
  static_assert(
      ok == true,
      "[onto.run] an expression has no shape before it is run; within one an extent is extent<0>(x), beside floats "
      "cast<float>(extent<0>(x)), and the result has r.size() and r.shape()");
};
template <class... Argument>
struct extents_are_arguments_of_the_type {
  using result = std::conditional_t<(sizeof...(Argument) > 99), void, ill_formed>;
  static constexpr bool ok = (... || (sizeof(Argument) == 0));
  static_assert(
      ok == true,
      "[onto.shape] the extents of a placeholder or variable stand in its type: placeholder<\"x\", float, 2, 3>, "
      "with dyn for those that a run decides");
};
template <class Value>
struct expression_is_not_a_range {
  using reported = void;
  static constexpr bool ok = sizeof(Value) == 0;
  static_assert(ok == true,
                "[onto.run] an expression has no elements before it is run; loop over those of sess.run(e), or say "
                "sum(x) or max(x)");
};
template <class Operand>
struct expression_does_not_change {
  using reported = void;
  static constexpr bool ok = sizeof(Operand) == 0;
  static_assert(
      ok == true,
      "[onto.variable] an expression never changes; write auto y2 = y + x, or assign_add(w, x) for a variable; what a "
      "loop changes is a tensor, t = sess.run(t + x); and what a run is fed is a placeholder, x = data");
};

/// What an assignment of data gives. No `auto`: others may ask whether there is one.
template <class Operand>
using instead_of = std::conditional_t<(sizeof(Operand) == 0), void, ill_formed>;

/// Enough of an iterator for a loop, and no iterator to std::ranges.
struct no_elements {
  int operator*() const;
  void operator++();
  bool operator!=(no_elements) const;
};

/// What nothing more is said of.
struct any_value {
  template <class T>
  operator T() const;
};

/// The base of expressions: members that are never called in a program that compiles. They are members of one class,
/// so that the types of expressions have none of them. That class is a template, so that none of them is compiled.
template <class Value>
struct no_value : member_words {
  // One conversion to numbers, not one for each: of the overloads of std::exp that of double is then the best.
  constexpr operator Value() const {
    static_cast<void>(static_cast<typename expression_has_no_value_yet<Value>::reported*>(nullptr));
    return Value{};
  }

  template <tensor_element T, int... Dims>
  constexpr operator tensor<T, Dims...>() const {
    static_cast<void>(static_cast<typename expression_has_no_value_yet<T>::reported*>(nullptr));
    return {};
  }

  template <class Index>
  constexpr auto operator[](const Index&) const {
    return typename expression_is_not_indexed<Index>::result{};
  }
  template <class... Argument>
  constexpr auto operator()(const Argument&...) const {
    using mistake = std::conditional_t<(std::is_arithmetic_v<Argument> && ...), expression_is_not_called<Argument...>,
                                       extents_are_arguments_of_the_type<Argument...>>;
    return typename mistake::result{};
  }

  template <class... Argument>
  constexpr instead_of_call<Argument...> size(const Argument&...) const {
    return typename expression_has_no_extents_yet<Argument...>::result{};
  }
  template <class... Argument>
  constexpr instead_of_call<Argument...> shape(const Argument&...) const {
    return typename expression_has_no_extents_yet<Argument...>::result{};
  }

  /// As of an expression of Eigen.
  template <class... Argument>
  constexpr any_value eval(const Argument&...) const {
    static_cast<void>(static_cast<typename expression_has_no_value_yet<Value>::reported*>(nullptr));
    return {};
  }

  /// Expressions of other types; those of one type are copied.
  template <class X>
  constexpr void operator=(const X&) {
    changed<X>();
  }
  /// Data, which is fed to placeholders.
  template <class X>
    requires(!__is_base_of(no_value, X))
  constexpr instead_of<X> operator=(const X&) {
    changed<X>();
    return {};
  }
  template <class X>
    requires(!__is_base_of(no_value, X))
  constexpr instead_of<X> operator=(const X&) const {
    changed<X>();
    return {};
  }
  template <class X>
  constexpr void operator+=(const X&) const {
    changed<X>();
  }
  template <class X>
  constexpr void operator-=(const X&) const {
    changed<X>();
  }
  template <class X>
  constexpr void operator*=(const X&) const {
    changed<X>();
  }
  template <class X>
  constexpr void operator/=(const X&) const {
    changed<X>();
  }
  template <class X>
  constexpr void operator%=(const X&) const {
    changed<X>();
  }

  // An expression is no number to move a pointer by either: clang++ would take the first conversion for that.
  template <class T>
  friend void operator+(const no_value&, const T*) = delete;
  template <class T>
  friend void operator+(const T*, const no_value&) = delete;
  template <class T>
  friend void operator-(const T*, const no_value&) = delete;

  template <class E>
    requires std::is_base_of_v<no_value, E>
  friend constexpr no_elements begin(const E&) {
    static_cast<void>(static_cast<typename expression_is_not_a_range<E>::reported*>(nullptr));
    return {};
  }
  template <class E>
    requires std::is_base_of_v<no_value, E>
  friend constexpr no_elements end(const E&) { return {}; }

 private:
  template <class X>
  static constexpr void changed() {
    static_cast<void>(static_cast<typename expression_does_not_change<X>::reported*>(nullptr));
  }
};

using not_a_value = no_value<double>;

}  // namespace onto::detail
