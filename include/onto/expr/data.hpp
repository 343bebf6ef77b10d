// SPDX-License-Identifier: BSL-1.0
// Data itself in an expression: `t + 2 * x` with a tensor, a vector, an array or a span. What has a name is referred
// to, and read when the program runs; a temporary is kept.
#pragma once

#include <onto/expr/constant.hpp>
#include <onto/expr/number.hpp>
#include <onto/expr/shape_check.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <array>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace onto {

template <tensor_element T, int... Dims>
class shared_tensor;

namespace detail {

/// A type of data: its leaf, and how values and extents are found. `is_view`: it refers to memory and is copied itself.
template <class X>
struct data_traits {
  static constexpr bool known = false;
};

template <class Data, bool View, class T, int... Dims>
struct known_data {
  static constexpr bool known = true, is_view = View;
  using leaf = constant_node<letters<>, T, Dims...>;
  using ref = tensor_ref<T, Dims...>;

  static const Data& at(const void* object) { return *static_cast<const Data*>(object); }
  static const void* values(const void* object) { return std::data(at(object)); }
  static extents shape(const void* object) {
    if constexpr (std::is_same_v<Data, tensor<T, Dims...>>)
      return expect_values(at(object)).extent_values();
    else
      return ref(at(object)).extent_values();
  }
  static void destroy(const void* object) { at(object).~Data(); }

  static constexpr data_object referred{&values, &shape, nullptr};
  static constexpr data_object kept{&values, &shape, &destroy};
};

template <class T, int... Dims>
struct data_traits<tensor<T, Dims...>> : known_data<tensor<T, Dims...>, false, T, Dims...> {};
template <class T, int... Dims>
struct data_traits<tensor_ref<T, Dims...>> : known_data<tensor_ref<T, Dims...>, true, T, Dims...> {};
/// Copied with its owner, which lives as long as the expression.
template <class T, int... Dims>
struct data_traits<shared_tensor<T, Dims...>> : known_data<shared_tensor<T, Dims...>, true, T, Dims...> {};
template <tensor_element T, class Allocator>
  requires(!std::is_same_v<T, bool>)
struct data_traits<std::vector<T, Allocator>> : known_data<std::vector<T, Allocator>, false, T, dyn> {};
template <tensor_element T, std::size_t N>
struct data_traits<std::array<T, N>> : known_data<std::array<T, N>, false, T, static_cast<int>(N)> {};
template <class T, std::size_t N>
  requires(tensor_element<std::remove_const_t<T>>)
struct data_traits<std::span<T, N>>
    : known_data<std::span<T, N>, true, std::remove_const_t<T>, N == std::dynamic_extent ? dyn : static_cast<int>(N)> {
};

/// A comparison of whole tensors stands among data for its mistake to be told wherever data is taken.
template <>
struct data_traits<compared_whole> {
  static constexpr bool known = true;
};
template <class X>
struct tensors_compared_whole : mistake {
  using reported = void;
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(ok == true,
                "[onto.element] t == u of two tensors is one bool; write constant(t) == u for one of each element");
};

/// So do data whose elements are none of ours,
template <class X>
concept other_element = !tensor_element<X> && (text_like<X> || !requires(const X& x) { x.begin(); });
struct other_elements {
  static constexpr bool known = true;
};
template <other_element X, class Allocator>
struct data_traits<std::vector<X, Allocator>> : other_elements {};
template <other_element X, std::size_t N>
struct data_traits<std::array<X, N>> : other_elements {};
template <class X, std::size_t N>
  requires(other_element<std::remove_const_t<X>>)
struct data_traits<std::span<X, N>> : other_elements {};
template <class X>
struct elements_are_of_no_tensor : mistake {
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(ok == true,
                "[onto.element] the elements of the vector, array or span, as long long or a text, are none of these "
                "operands'; write std::int64_t, std::uint64_t, std::int8_t, std::uint8_t, and numbers for words; of "
                "expressions make a tuple, add_n(std::tuple{x, y})");
};

/// and nested vectors, whose rows may differ in length,
template <class X, class A, class B>
struct data_traits<std::vector<std::vector<X, A>, B>> {
  static constexpr bool known = true;
  using nested = X;
};
/// and several results in one, of which `First` is the first, and `each()` a tuple of all.
template <class First>
struct several_results {
  static constexpr bool known = true;
  using first = First;
};
template <class X>
struct several_are_no_operand : mistake {
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(ok == true,
                "[onto.operands] top_k and unique make several, and one of them is an operand: top_k<3>(x).values, "
                ".indices; unique<10>(x).values, .counts, .found");
};
template <class X>
concept makes_several = !expression<X> && requires {
  typename data_traits<X>::first;
};

/// A tensor, `tensor_ref`, `shared_tensor`, `std::vector`, `std::array` or `std::span` of elements.
template <class X>
concept data = !expression<X> && data_traits<X>::known;

/// The same that nothing else refers to, as a parameter `X&&` deduces it.
template <class X>
concept temporary_data = !std::is_lvalue_reference_v<X> && data<std::remove_const_t<X>>;

/// A tuple of expressions, as `gradients` gives.
template <class X>
inline constexpr bool is_tuple_of_expressions = false;
template <class... E>
inline constexpr bool is_tuple_of_expressions<std::tuple<E...>> = (expression<E> || ...);

/// A function or lambda that was not called.
template <class X>
concept is_uncalled = std::is_function_v<std::remove_pointer_t<X>> || requires {
  &X::operator();
};

/// A pointer of C++'s or the library's, a `std::optional`.
template <class X>
concept is_read_by_star = std::is_pointer_v<X> || requires(const X& x) {
  *x;
  static_cast<bool>(x);
  x.operator->();
};

/// Ranges and matrices that are no such data: a list, nested arrays, arrays of C, matrices of Eigen's; and what is no
/// data before something is done with it.
template <class X>
concept other_data =
    !expression<X> && !scalar_value<X> && !number_in_type<X> && !data_traits<X>::known && !text_like<X> &&
    (is_tensor<X> || laid_out<X> || own_axes<X> || std::is_array_v<X> || is_tuple_of_expressions<X> || is_uncalled<X> ||
     is_read_by_star<X> || requires(const X& x) {
       x.begin();
       x.end();
     });

// One struct a mistake, as in shape_check.hpp.
template <class X>
struct data_is_no_operand : mistake {
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(ok == true,
                "[onto.operands] beside an expression stands a tensor, or a vector, an array or a span of elements; a "
                "matrix of another library is fed to a placeholder, x = m, or x = row_major(m) of "
                "<onto/strided.hpp>; of other ranges make a tensor, of an array of C constant(k)");
};

template <class X>
struct function_is_called : mistake {
  static constexpr bool ok = sizeof(X*) == 0;
  static_assert(ok == true, "[onto.operands] a function or lambda is no operand; call it: x + f(), f(x)");
};
template <class X>
struct several_expressions_are_no_operand : mistake {
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(
      ok == true,
      "[onto.operands] several expressions are no operand; take them apart, auto [dx, dy] = gradients(loss, x, "
      "y), or make one, gradient(loss, x)");
};
template <class X>
struct pointer_is_no_operand : mistake {
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(ok == true,
                "[onto.operands] a pointer or std::optional is no operand; write *p for what it holds, and for memory "
                "tensor_ref<float, 2, 3>(p, {2, 3}) or a std::span");
};

/// What is said of `X` beside an expression.
template <class X>
constexpr auto operand_mistake() {
  if constexpr (is_uncalled<X>)
    return std::type_identity<function_is_called<X>>{};
  else if constexpr (is_tuple_of_expressions<X>)
    return std::type_identity<several_expressions_are_no_operand<X>>{};
  else if constexpr (is_read_by_star<X>)
    return std::type_identity<pointer_is_no_operand<X>>{};
  else
    return std::type_identity<data_is_no_operand<X>>{};
}

/// `x` itself, or the leaf that stands for data.
template <class X>
  requires(!std::is_same_v<std::remove_cvref_t<X>, compared_whole>)
constexpr decltype(auto) leaf_of(X&& x) {
  using value = std::remove_cvref_t<X>;
  if constexpr (std::is_base_of_v<other_elements, data_traits<value>>) {
    return typename elements_are_of_no_tensor<value>::result{};
  } else if constexpr (other_data<value> || requires { typename data_traits<value>::nested; }) {
    return typename decltype(operand_mistake<value>())::type::result{};
  } else if constexpr (!data<value>) {
    return static_cast<const value&>(x);
  } else if constexpr (makes_several<value>) {
    return typename unless_told<several_are_no_operand<value>, typename data_traits<value>::first>::result{};
  } else {
    using traits = data_traits<value>;
    constexpr bool keep = traits::is_view || !std::is_reference_v<X>;
    state* s = new_state(0, keep ? static_cast<std::int64_t>(sizeof(value)) : 0, true);
    state_ref held(s);
    if constexpr (keep) {
      s->object = ::new (const_cast<void*>(s->values)) value(static_cast<X&&>(x));
      s->refers_to = &traits::kept;
    } else {
      s->object = &x;
      s->refers_to = &traits::referred;
    }
    return typename traits::leaf(static_cast<state_ref&&>(held));
  }
}

template <class X>
  requires std::is_same_v<std::remove_cvref_t<X>, compared_whole>
constexpr ill_formed leaf_of(X&&) {
  static_cast<void>(static_cast<typename tensors_compared_whole<std::remove_cvref_t<X>>::result*>(nullptr));
  return ill_formed{};
}

/// Data that is an operand without others.
template <class X>
concept data_alone = data<X> && !is_number_tensor<X>;

/// A string beside a tensor: one of texts is compared with it, element by element.
template <class X, class S>
concept text_beside_tensor = is_tensor<X> && !std::is_convertible_v<const X&, text> && !data<S> && text_like<S>;
template <class X, class S>
concept text_beside_texts = text_beside_tensor<X, S> && std::is_same_v<typename X::element_type, text>;
template <class L, class R>
concept text_beside_numbers = (text_beside_tensor<L, R> && !text_beside_texts<L, R>) ||
                              (text_beside_tensor<R, L> && !text_beside_texts<R, L>);

/// One of two is data, and the other may stand beside it. A result that is one number is data beside others alone.
template <class L, class R>
concept either_is_data = !(__is_base_of(expression_base, L) && __is_base_of(expression_base, R)) &&
                         ((data<L> && (data_alone<R> || expression<R>)) ||
                          (data_alone<L> && (data<R> || scalar_value<R> || number_in_type<R>)) ||
                          (data<R> && expression<L>) || (data_alone<R> && (scalar_value<L> || number_in_type<L>)));

/// The same of other data, of which it is said that it may not.
template <class L, class R>
concept either_is_other_data = (other_data<L> && (expression<R> || data<R> || scalar_value<R> || number_in_type<R>)) ||
                               (other_data<R> && (expression<L> || data<L> || scalar_value<L> || number_in_type<L>));

/// Arguments of a word with data among them: a number among numbers is none.
template <class... X>
concept data_among = (data_alone<X> || ...) || ((data<X> || ...) && (expression<X> || ...));

template <class X>
concept of_onto = expression<X> || is_tensor<X> || makes_several<X>;
template <class X>
concept own_type = of_onto<X> && !is_number_tensor<X>;

/// Operands with data among them, and one of onto's own types: operators on the standard's types are not ours.
template <class L, class R>
concept data_operands = (of_onto<std::remove_cvref_t<L>> || of_onto<std::remove_cvref_t<R>>)&&(
    either_is_data<std::remove_cvref_t<L>, std::remove_cvref_t<R>> ||
    either_is_other_data<std::remove_cvref_t<L>, std::remove_cvref_t<R>>);

/// The same of words, which the standard's types have none of.
template <class L, class R>
concept word_operands = data_operands<L, R> ||(either_is_data<std::remove_cvref_t<L>, std::remove_cvref_t<R>>&&
                                                   data_among<std::remove_cvref_t<L>, std::remove_cvref_t<R>>);

/// What tensors that are compared as values have in common.
template <class T, int Rank>
struct values_of_rank {};
template <class X>
struct kind_of_values {
  using type = X;
};
template <class T, int... Dims>
struct kind_of_values<tensor<T, Dims...>> {
  using type = values_of_rank<T, static_cast<int>(sizeof...(Dims))>;
};
template <class T, int... Dims>
struct kind_of_values<tensor_ref<T, Dims...>> : kind_of_values<tensor<T, Dims...>> {};
template <class T, int... Dims>
struct kind_of_values<shared_tensor<T, Dims...>> : kind_of_values<tensor<T, Dims...>> {};

/// The same for `==` and `!=`, where two tensors are compared as values.
template <class L, class R>
concept data_beside = data_operands<L, R> && !std::is_same_v<typename kind_of_values<std::remove_cvref_t<L>>::type,
                                                             typename kind_of_values<std::remove_cvref_t<R>>::type>;

}  // namespace detail

}  // namespace onto
