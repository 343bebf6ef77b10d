// SPDX-License-Identifier: BSL-1.0
// Numbers in types: `0.5_c * x`, `c<0.5f>`. The expression stays a constant, equal numbers are equal, and the compiler
// folds them into the kernel.
#pragma once

#include <onto/core/decimal.hpp>
#include <onto/expr/expression.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto {

template <tensor_element T, int... Dims>
class tensor;
template <tensor_element T, int... Dims>
class tensor_ref;

namespace detail {

/// A tensor of rank 0, as most runs return it, is a number: beside numbers and alone it is computed with as C++ does.
template <class X>
inline constexpr bool is_number_tensor = false;
template <class T>
inline constexpr bool is_number_tensor<tensor<T>> = true;
template <class T>
inline constexpr bool is_number_tensor<tensor_ref<T>> = true;

/// The number that one holds, as it is when this is called.
template <class X>
  requires is_number_tensor<X>
typename X::element_type number_in(const X& x) {
  const typename X::element_type v = x;
  return v;
}

/// What kind of number: beside elements of a tensor, one with a fraction is not one without.
enum class number_kind : std::uint8_t { floating, integer, natural };

template <class E>
struct option_is_a_number {
  using reported = void;
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(ok == true,
                "[onto.optimizer] an option is a number; a rate that is computed or fed has a word of its own: "
                "minimize(adam{}, learning_rate(e), loss)");
};

/// A number as a template argument, by its bits: not every compiler takes floating-point ones.
struct number_value {
  std::uint64_t bits = 0;  // of a double, a 64 bit integer, or a 64 bit integer without sign
  number_kind kind = number_kind::floating;

  constexpr number_value(std::floating_point auto v) : bits(std::bit_cast<std::uint64_t>(static_cast<double>(v))) {}
  constexpr number_value(std::signed_integral auto v)
      : bits(static_cast<std::uint64_t>(std::int64_t{v})), kind(number_kind::integer) {}
  constexpr number_value(std::unsigned_integral auto v)
      : bits(v), kind(v <= std::uint64_t{1} << 63 >> 1 ? number_kind::integer : number_kind::natural) {}
  number_value(bool) = delete;
  template <expression E>
  constexpr number_value(const E&) {
    static_cast<void>(static_cast<typename option_is_a_number<E>::reported*>(nullptr));
  }
  /// The number in a tensor of rank 0.
  template <class X>
    requires is_number_tensor<X> number_value(const X& x) : number_value(as_cpp_has_it(number_in(x))) {}
    /// As nvcc writes it out.
    constexpr number_value(std::uint64_t b, number_kind k) : bits(b), kind(k) {}

    template <class T>
    static constexpr auto as_cpp_has_it(T v) {
      if constexpr (std::is_arithmetic_v<T>)
        return v;
      else
        return static_cast<double>(static_cast<float>(v));
    }
};

/// A number in the type. Beside an expression it takes the element type of that.
template <std::uint64_t Bits, number_kind Kind>
struct static_number {
  static constexpr number_kind kind = Kind;

  static constexpr auto get() {
    if constexpr (Kind == number_kind::floating)
      return std::bit_cast<double>(Bits);
    else if constexpr (Kind == number_kind::integer)
      return static_cast<std::int64_t>(Bits);
    else
      return Bits;
  }
  static constexpr auto value = get();

  constexpr explicit operator double() const { return static_cast<double>(value); }
};

template <class X>
inline constexpr bool is_number_in_type = false;
template <std::uint64_t Bits, number_kind Kind>
inline constexpr bool is_number_in_type<static_number<Bits, Kind>> = true;

template <class X>
concept number_in_type = is_number_in_type<X>;

/// What a word takes where it takes a number: one of C++, one in the type, or a tensor of rank 0, whose number is read
/// when the expression is written.
template <class X>
concept number_argument = is_number<X> || number_in_type<X> || is_number_tensor<X>;

template <std::uint64_t Bits, number_kind Kind>
struct number_of {
  static constexpr static_number<Bits, Kind> value{};
};

template <class Text>
struct number_is_too_large {
  static constexpr bool ok = sizeof(Text) > 99;
  static_assert(ok == true,
                "[onto.number] the number is too large for a double or a 64 bit integer; write a smaller one");
  static constexpr static_number<0, number_kind::integer> value{};
};

template <char... Letters>
struct literal_text {
  static constexpr char text[] = {Letters...};
  static constexpr literal_value read = read_literal(text, static_cast<int>(sizeof...(Letters)));
};

template <class Text>
consteval auto number_from_text() {
  constexpr literal_value read = Text::read;
  if constexpr (!read.valid) {
    return number_is_too_large<Text>::value;
  } else if constexpr (read.floating) {
    return static_number<std::bit_cast<std::uint64_t>(read.number), number_kind::floating>{};
  } else {
    constexpr number_kind kind =
        read.integer <= std::uint64_t{1} << 63 >> 1 ? number_kind::integer : number_kind::natural;
    return static_number<read.integer, kind>{};
  }
}

/// The values of two numbers in the type that their sum has: double where one has a fraction.
template <class L, class R>
using common_number = std::common_type_t<decltype(L::value), decltype(R::value)>;

}  // namespace detail

/// A number in the type: `c<0.5f> * x`, `c<2>`.
template <detail::number_value Value>
inline constexpr auto c = detail::number_of<Value.bits, Value.kind>::value;

inline namespace literals {
/// A number in the type: `0.5_c * x`, `x + 1_c`. Not consteval: clang++ 14 calls such a one in a template, and defines
/// it nowhere.
template <char... Letters>
constexpr auto operator""_c() {
  return detail::number_from_text<detail::literal_text<Letters...>>();
}
}  // namespace literals

namespace detail {

template <std::uint64_t Bits, number_kind Kind>
constexpr auto operator-(static_number<Bits, Kind> x) {
  if constexpr (Kind == number_kind::floating) {
    return static_number<Bits ^ std::uint64_t{1} << 63, Kind>{};
  } else {
    static_assert(Kind == number_kind::integer && Bits != std::uint64_t{1} << 63,
                  "[onto.number] the number has no negative of 64 bits; write it with a fraction");
    (void)x;
    return static_number<~Bits + 1, Kind>{};
  }
}
template <number_in_type L, number_in_type R>
constexpr auto operator+(L, R) {
  using common = common_number<L, R>;
  constexpr number_value v(static_cast<common>(L::value) + static_cast<common>(R::value));
  return static_number<v.bits, v.kind>{};
}
template <number_in_type L, number_in_type R>
constexpr auto operator-(L, R) {
  using common = common_number<L, R>;
  constexpr number_value v(static_cast<common>(L::value) - static_cast<common>(R::value));
  return static_number<v.bits, v.kind>{};
}
template <number_in_type L, number_in_type R>
constexpr auto operator*(L, R) {
  using common = common_number<L, R>;
  constexpr number_value v(static_cast<common>(L::value) * static_cast<common>(R::value));
  return static_number<v.bits, v.kind>{};
}
/// *Mandates* that one has a fraction: C++ and NumPy do not agree what `1 / 2` is.
template <number_in_type L, number_in_type R>
constexpr auto operator/(L, R) {
  static_assert(L::kind == number_kind::floating || R::kind == number_kind::floating,
                "[onto.number] a quotient of integers; write one with a point, as in 1.0_c / 3_c");
  constexpr number_value v(static_cast<double>(L::value) / static_cast<double>(R::value));
  return static_number<v.bits, v.kind>{};
}

// Beside a number of C++ they are one of C++: `1.0_c + n`.
template <number_in_type L, class R>
  requires std::is_arithmetic_v<R>
constexpr auto operator+(L, R r) { return L::value + r; }
template <class L, number_in_type R>
  requires std::is_arithmetic_v<L>
constexpr auto operator+(L l, R) { return l + R::value; }
template <number_in_type L, class R>
  requires std::is_arithmetic_v<R>
constexpr auto operator-(L, R r) { return L::value - r; }
template <class L, number_in_type R>
  requires std::is_arithmetic_v<L>
constexpr auto operator-(L l, R) { return l - R::value; }
template <number_in_type L, class R>
  requires std::is_arithmetic_v<R>
constexpr auto operator*(L, R r) { return L::value * r; }
template <class L, number_in_type R>
  requires std::is_arithmetic_v<L>
constexpr auto operator*(L l, R) { return l * R::value; }
template <number_in_type L, class R>
  requires(std::is_floating_point_v<R> || (std::is_arithmetic_v<R> && L::kind == number_kind::floating))
constexpr auto operator/(L, R r) { return L::value / r; }
template <class L, number_in_type R>
  requires(std::is_floating_point_v<L> || (std::is_arithmetic_v<L> && R::kind == number_kind::floating))
constexpr auto operator/(L l, R) { return l / R::value; }

/// An unsigned integer of as many bits.
template <class T>
using bits_type = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

template <class T>
constexpr std::uint64_t literal_bits(T v) {
  return std::bit_cast<bits_type<T>>(v);
}

}  // namespace detail

namespace op {

/// A number that is part of a kernel's code.
template <element Type, std::uint64_t Bits>
struct literal : detail::integer_packs {
  static constexpr op_kind kind = op_kind::scalar;
  static constexpr std::string_view name = "Scalar";
  static constexpr int cost = 0;
  static constexpr kernel_set kernels{all_elements, all_elements};
  static constexpr bool packs = true;
  static constexpr int attribute_count = 1;
  static constexpr std::int64_t attribute[attribute_count] = {static_cast<std::int64_t>(Bits)};
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents*, int) { return {}; }
  ONTO_END_RUNS_ONCE

  using computed = computed_t<Type>;
  static constexpr computed value = std::bit_cast<computed>(static_cast<detail::bits_type<computed>>(Bits));

  template <class T>
  ONTO_HD static T make() {
    constexpr computed v = value;
    return static_cast<T>(v);
  }
};

}  // namespace op

/// A number in the type beside a tensor whose elements are `T`.
template <tensor_element T, std::uint64_t Bits>
struct literal_node : detail::stateless_expression {
  using node = literal_node;
  using operation = op::literal<element_of<T>, Bits>;
  using element_type = T;
  using ops = detail::op_list<operation>;
  static constexpr element type = element_of<T>;
  static constexpr std::uint64_t id = detail::hash_mix(op_info_of<operation>.hash, 0x117e7a1);
  static constexpr detail::node_facts facts{type, extents{}, id, id};

  template <class Builder>
  static constexpr int put(Builder& b, place, bool, int parent, int child) {
    return b.leaf(parent, child, facts, op_info_of<operation>, place{}, std::string_view{});
  }
};

namespace detail {

template <class Element, class Number>
struct number_does_not_fit {
  using result = ill_formed;
  static constexpr bool ok = sizeof(Number) > 99;
  static_assert(ok == true,
                "[onto.element] the number does not fit the elements beside it; convert the tensor with cast<T>(x)");
};
/// A number with a fraction beside integers, whatever its value.
template <class Element, class Number>
struct fraction_beside_integers {
  using result = ill_formed;
  static constexpr bool ok = sizeof(Element) > 99;
  static_assert(ok == true,
                "[onto.element] a floating number beside a tensor of integers; convert the tensor with cast<float>(x) "
                "or cast<double>(x), or write an integer");
};

/// The number as an element of `T`.
template <tensor_element T, class Number>
constexpr auto literal_beside() {
  if constexpr (!is_floating(element_of<T>) && Number::kind == number_kind::floating) {
    return typename fraction_beside_integers<T, Number>::result{};
  } else {
    constexpr bool fits = [] {
      if constexpr (is_floating(element_of<T>))
        return true;
      else
        return std::in_range<T>(Number::value);
    }();
    if constexpr (!fits) {
      return typename number_does_not_fit<T, Number>::result{};
    } else {
      constexpr auto v = [] {
        if constexpr (is_half_precision(element_of<T>))
          return static_cast<float>(static_cast<T>(static_cast<double>(Number::value)));
        else
          return static_cast<T>(Number::value);
      }();
      return literal_node<T, literal_bits(v)>{};
    }
  }
}

}  // namespace detail

}  // namespace onto
