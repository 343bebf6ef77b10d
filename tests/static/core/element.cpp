// SPDX-License-Identifier: BSL-1.0
// The table of element types, as assertions the compiler checks.
#include <onto/core/element.hpp>

#include <limits>

using namespace onto;

namespace {

// Which types are elements, and which of the same width are not.
static_assert(tensor_element<float> && tensor_element<double> && tensor_element<half> && tensor_element<bfloat16>);
static_assert(tensor_element<std::int8_t> && tensor_element<std::int16_t> && tensor_element<std::int32_t> &&
              tensor_element<std::int64_t> && tensor_element<bool>);
static_assert(tensor_element<std::uint8_t> && tensor_element<std::uint16_t> && tensor_element<std::uint32_t> &&
              tensor_element<std::uint64_t>);
static_assert(tensor_element<text> && !tensor_element<std::string>);
static_assert(!tensor_element<char> && !tensor_element<const float> && !tensor_element<float&> &&
              !tensor_element<long double> && !tensor_element<void> && !tensor_element<element>);

// A type and its value name each other.
static_assert(element_of<std::uint8_t> == element::uint8 && std::is_same_v<element_t<element::uint8>, std::uint8_t>);
static_assert(element_of<text> == element::text && std::is_same_v<element_t<element::text>, text>);
static_assert(element_of<bfloat16> == element::bfloat16 && std::is_same_v<element_t<element::bfloat16>, bfloat16>);

/// Whether a row says of its type what the language does.
template <element E>
constexpr bool is_right() {
  if (is_text(E)) return kind_of(E) == element_kind::characters && !is_floating(E) && name_of(E) == "text";
  using T = element_t<E>;
  using limits = std::numeric_limits<T>;
  const element_kind kind = std::is_same_v<T, bool> ? element_kind::truth
                            : !limits::is_integer   ? element_kind::floating
                            : limits::is_signed     ? element_kind::signed_integer
                                                    : element_kind::unsigned_integer;
  return element_of<T> == E && size_of(E) == sizeof(T) && kind_of(E) == kind &&
         is_floating(E) == (kind == element_kind::floating) && !name_of(E).empty();
}
/// What is derived from a type stays of its kind, and is not narrower.
template <element E>
constexpr bool derives() {
  if (is_text(E)) return summed_as(E) == E && accumulated_as(E) == E;
  const auto keeps = [](element e) { return kind_of(e) == kind_of(E) && size_of(e) >= size_of(E); };
  return keeps(computed_as(E)) && keeps(summed_as(E)) && keeps(accumulated_as(E)) &&
         size_of(accumulated_as(E)) >= size_of(summed_as(E)) && computed_as(computed_as(E)) == computed_as(E);
}
template <int... K>
constexpr bool all_are_right(std::integer_sequence<int, K...>) {
  return ((is_right<static_cast<element>(K)>() && derives<static_cast<element>(K)>()) && ...);
}
static_assert(all_are_right(std::make_integer_sequence<int, element_count>{}));

/// Whether each name, ours and NumPy's, is one type's.
constexpr bool names_differ() {
  for (const detail::element_row& a : detail::element_table::rows)
    for (const detail::element_row& b : detail::element_table::rows)
      if (a.type != b.type && (a.name == b.name || (a.numpy == b.numpy && !a.numpy.empty()))) return false;
  return true;
}
static_assert(names_differ());

// Two types are computed in another.
static_assert(is_half_precision(element::float16) && is_half_precision(element::bfloat16));
static_assert(!is_half_precision(element::float32) && !is_half_precision(element::int8) &&
              !is_half_precision(element::uint16));
static_assert(std::is_same_v<computed_of<half>, float> && std::is_same_v<computed_of<std::int8_t>, std::int8_t>);

// Kernels see a text as its handle, which is an integer, and everything else as it is stored.
static_assert(seen_by_kernels(element::text) == element::uint64 &&
              seen_by_kernels(element::float16) == element::float16);
static_assert(!is_half_precision(element::text) && is_text(element::text) && !is_text(element::uint64));
static_assert(sizeof(text) == 8 && size_of(element::text) == 8);

// Sums of short integers are wide; int32 stays; floating point is kept in double and rounded once.
static_assert(summed_as(element::int8) == element::int64 && summed_as(element::uint32) == element::uint64);
static_assert(summed_as(element::int32) == element::int32 && accumulated_as(element::int32) == element::int32);
static_assert(summed_as(element::float16) == element::float16 && accumulated_as(element::float16) == element::float64);

}  // namespace
