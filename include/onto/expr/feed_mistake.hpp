// SPDX-License-Identifier: BSL-1.0
// Data that a placeholder cannot take: which of its properties it is, in one sentence.
#pragma once

#include <onto/expr/constant.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <type_traits>

namespace onto::detail {
/// What `{p, n}` becomes where data is expected.
struct pointer_in_braces {
  template <class T, class N>
    requires std::is_integral_v<N>
  constexpr pointer_in_braces(T*, N) {}
};

// One struct a mistake: its name and arguments are what the compiler prints.
template <class Data, class Tensor>
struct is_no_feed {
  using reported = void;
  static constexpr bool ok = sizeof(Data) == 0;
  static_assert(ok == true,
                "[onto.feed] the data has another rank than the placeholder, or no shape of its own; feed a tensor, or "
                "tensor_ref<...>(data, {rows, columns})");
};
template <class Data, class Tensor>
struct elements_are_of_another_type {
  using reported = void;
  static constexpr bool ok = sizeof(Data) == 0;
  static_assert(ok == true,
                "[onto.feed] the data's elements are of another type than the placeholder's, as double beside float; "
                "declare the placeholder with theirs and convert with cast<T>(x), or feed what holds elements of the "
                "placeholder's type T, std::vector<T>(v.begin(), v.end())");
};
template <class Data, class Tensor>
struct element_is_of_another_type {
  using reported = void;
  static constexpr bool ok = sizeof(Data) == 0;
  static_assert(ok == true,
                "[onto.feed] a tensor of one element feeds a placeholder of its element type; feed the number, k = "
                "static_cast<int>(r), or declare the placeholder with that type");
};
template <class Matrix, class Tensor>
struct matrix_is_not_row_major {
  using reported = void;
  static constexpr bool ok = sizeof(Matrix) == 0;
  static_assert(
      ok == true,
      "[onto.feed] the matrix does not lie row by row without gaps; feed a row-major one; or row_major(m), with "
      "<onto/strided.hpp>, which copies; or tensor_ref<...>(m.data(), {columns, rows}) and take transpose(x)");
};
template <class Array, class Tensor>
struct array_may_not_be_row_major {
  using reported = void;
  static constexpr bool ok = sizeof(Array) == 0;
  static_assert(
      ok == true,
      "[onto.feed] an array with strides need not lie row by row; feed row_major(a), with <onto/strided.hpp>, of "
      "an mdspan or a strided_ref, or tensor_ref<...>(pointer, {rows, columns})");
};
template <class Data, class Tensor>
struct nested_is_not_fed {
  using reported = void;
  static constexpr bool ok = sizeof(Data) == 0;
  static_assert(
      ok == true,
      "[onto.feed] ranges in a range need not lie in one piece; copy their elements into a tensor, or, of arrays in a "
      "vector, feed tensor_ref<float, dyn, 2>(v[0].data(), {rows, 2})");
};
template <class Number, class Tensor>
struct fraction_is_not_fed {
  using reported = void;
  static constexpr bool ok = sizeof(Number) == 0;
  static_assert(
      ok == true,
      "[onto.feed] a fraction is no integer; feed n = static_cast<int>(value), or make the placeholder float");
};
template <class Data, class Tensor>
struct elements_have_another_name {
  using reported = void;
  static constexpr bool ok = sizeof(Data) == 0;
  static_assert(ok == true,
                "[onto.feed] the data's elements, as long long or char, are none of onto's types; write std::int64_t, "
                "std::uint64_t, std::int8_t, std::uint8_t, which have the same values");
};
/// What is wrong with data that cannot be fed.
template <class Data, class Tensor>
constexpr auto feed_mistake() {
  if constexpr (Tensor::rank == 0 && is_number<Data> && is_number<typename Tensor::element_type>)
    return std::type_identity<fraction_is_not_fed<Data, Tensor>>{};
  else if constexpr (Tensor::rank == 0 && requires { requires Data::rank == 0; })
    return std::type_identity<element_is_of_another_type<Data, Tensor>>{};
  else if constexpr (text_like<Data> || std::is_same_v<Data, std::initializer_list<const char*>>)
    return std::type_identity<elements_are_of_another_type<Data, Tensor>>{};
  else if constexpr (laid_out<Data> &&
                     requires(const Data& d, const typename Tensor::element_type*& p) { p = d.data(); })
    return std::type_identity<matrix_is_not_row_major<Data, Tensor>>{};
  else if constexpr (own_axes<Data> || requires(const Data& d) { d.stride(0); })
    return std::type_identity<array_may_not_be_row_major<Data, Tensor>>{};
  else if constexpr (std::is_array_v<Data> && std::is_arithmetic_v<std::remove_all_extents_t<Data>>)
    return std::type_identity<elements_are_of_another_type<Data, Tensor>>{};
  else if constexpr (requires(const Data& d) { d[0][0]; })
    return std::type_identity<nested_is_not_fed<Data, Tensor>>{};
  else if constexpr (requires(const Data& d) {
                       requires std::is_integral_v<std::remove_cvref_t<decltype(*std::data(d))>>;
                       requires !tensor_element<std::remove_cvref_t<decltype(*std::data(d))>>;
                     })
    return std::type_identity<elements_have_another_name<Data, Tensor>>{};
  else if constexpr (requires(const Data& d) {
                       requires !std::is_same_v<std::remove_cvref_t<decltype(*d.data())>,
                                                typename Tensor::element_type>;
                     })
    return std::type_identity<elements_are_of_another_type<Data, Tensor>>{};
  else
    return std::type_identity<is_no_feed<Data, Tensor>>{};
}

}  // namespace onto::detail
