// SPDX-License-Identifier: BSL-1.0
// Tensors as text, character for character as NumPy's `str(array)` with its default options.
#pragma once

#include <onto/core/element.hpp>
#include <onto/core/text_buffer.hpp>
#include <onto/shape/extents.hpp>
#include <onto/tensor/tensor.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <tuple>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

namespace detail {
/// Writes the values of a tensor as NumPy does.
ONTO_RUNTIME void print_values(text_buffer& out, const void* data, element type, const extents& shape);
}  // namespace detail

/// The values as NumPy's `str(array)` writes them: `[[22. 28.]\n [49. 64.]]`. More than 1000 values are summarized with
/// `...`, lines break at 75 columns, and a tensor of rank 0 is its bare value. Among others a text stands in quotes.
template <tensor_element T, int... Dims>
std::string to_string(const tensor<T, Dims...>& t) {
  detail::text_buffer text;
  detail::print_values(text, t.data(), element_of<T>, t.extent_values());
  return std::string(text.data(), text.size());
}
template <tensor_element T, int... Dims>
std::string to_string(const tensor_ref<T, Dims...>& t) {
  detail::text_buffer text;
  detail::print_values(text, t.data(), element_of<T>, t.extent_values());
  return std::string(text.data(), text.size());
}

/// Writes `to_string(t)`.
template <class Traits, tensor_element T, int... Dims>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const tensor<T, Dims...>& t) {
  detail::text_buffer text;
  detail::print_values(text, t.data(), element_of<T>, t.extent_values());
  return out << std::string_view(text.data(), text.size());
}
template <class Traits, tensor_element T, int... Dims>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const tensor_ref<T, Dims...>& t) {
  detail::text_buffer text;
  detail::print_values(text, t.data(), element_of<T>, t.extent_values());
  return out << std::string_view(text.data(), text.size());
}

/// Several results of a run, each as it is printed alone and on lines of its own.
template <class Traits, tensor_element T, int... Dims, class... More>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const std::tuple<tensor<T, Dims...>, More...>& results) {
  out << std::get<0>(results);
  std::apply([&out](const auto&, const auto&... more) { ((out << '\n' << more), ...); }, results);
  return out;
}

}  // namespace onto

ONTO_END_RUNS_ONCE

#if ONTO_DEFINITIONS
#include <onto/tensor/print_text.hpp>
#endif
