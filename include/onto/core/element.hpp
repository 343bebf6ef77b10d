// SPDX-License-Identifier: BSL-1.0
// The element types of tensors, as types and as values.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/half.hpp>
#include <onto/core/text_value.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace onto {

/// An element type as a value: the number of its row in the table.
enum class element : std::uint8_t {
  float32,
  float64,
  int32,
  int64,
  boolean,
  float16,
  bfloat16,
  int8,
  uint8,
  int16,
  uint16,
  uint32,
  uint64,
  text
};

/// What numbers elements are, or that they are none.
enum class element_kind : std::uint8_t { floating, signed_integer, unsigned_integer, truth, characters };

namespace detail {

/// For which devices an element type has matrix products.
enum class gemm_micro_kernels : std::uint8_t { none, cpu, cpu_and_gpu };

/// A row of the table: everything that is decided by an element type alone. Nothing is taken for granted of a type
/// that a column says nothing of: what asks the table refuses it.
struct element_row {
  element type;
  std::string_view name;   // as logs and errors write it
  std::string_view numpy;  // NumPy's letter and size; empty where NumPy has no such type
  int size;                // of one element in memory, in bytes
  element_kind kind;
  element computed;     // what kernels compute it in: handles of texts are integers there
  element sum;          // what a sum or product of elements is
  element accumulator;  // what that is kept in until it is complete, integers modulo a power of two
  gemm_micro_kernels products;
};

/// The table of element types. Another type is another row, an enumerator and its C++ type below; conversions of its
/// own (backend/cpu/convert.hpp) where it is computed in another, and cublasLt's name (backend/cuda/blas.hpp) where
/// GPUs multiply matrices of it.
struct element_table {
  using enum element;
  using enum element_kind;
  using enum gemm_micro_kernels;
  // clang-format off
  static constexpr element_row rows[] = {
      // type    name        NumPy size kind              computed  sum       accumulator
      {float32,  "float",    "f4", 4, floating,         float32,  float32,  float64, cpu_and_gpu},
      {float64,  "double",   "f8", 8, floating,         float64,  float64,  float64, cpu_and_gpu},
      {int32,    "int32",    "i4", 4, signed_integer,   int32,    int32,    int32,   cpu},
      {int64,    "int64",    "i8", 8, signed_integer,   int64,    int64,    int64,   cpu},
      {boolean,  "bool",     "b1", 1, truth,            boolean,  boolean,  boolean, none},
      {float16,  "half",     "f2", 2, floating,         float32,  float16,  float64, cpu_and_gpu},
      {bfloat16, "bfloat16", "",   2, floating,         float32,  bfloat16, float64, cpu_and_gpu},
      {int8,     "int8",     "i1", 1, signed_integer,   int8,     int64,    int64,   none},
      {uint8,    "uint8",    "u1", 1, unsigned_integer, uint8,    uint64,   uint64,  none},
      {int16,    "int16",    "i2", 2, signed_integer,   int16,    int64,    int64,   none},
      {uint16,   "uint16",   "u2", 2, unsigned_integer, uint16,   uint64,   uint64,  none},
      {uint32,   "uint32",   "u4", 4, unsigned_integer, uint32,   uint64,   uint64,  cpu},
      {uint64,   "uint64",   "u8", 8, unsigned_integer, uint64,   uint64,   uint64,  cpu},
      {text,     "text",     "",   8, characters,       uint64,   text,     text,    none},
  };
  // clang-format on
};

/// The C++ type of each row.
template <element E, class T>
struct stored_as {};
struct element_types : stored_as<element::float32, float>,
                       stored_as<element::float64, double>,
                       stored_as<element::int32, std::int32_t>,
                       stored_as<element::int64, std::int64_t>,
                       stored_as<element::boolean, bool>,
                       stored_as<element::float16, half>,
                       stored_as<element::bfloat16, onto::bfloat16>,
                       stored_as<element::int8, std::int8_t>,
                       stored_as<element::uint8, std::uint8_t>,
                       stored_as<element::int16, std::int16_t>,
                       stored_as<element::uint16, std::uint16_t>,
                       stored_as<element::uint32, std::uint32_t>,
                       stored_as<element::uint64, std::uint64_t>,
                       stored_as<element::text, onto::text> {};

template <class T, element E>
std::integral_constant<element, E> row_of(const stored_as<E, T>&);
template <element E, class T>
std::type_identity<T> type_in(const stored_as<E, T>&);

// Compilers print the name where another type is written: long long is std::int64_t.
template <class T>
inline constexpr bool elements_are_float_double_half_bfloat16_bool_text_std_int8_t_to_uint64_t_no_complex =
    requires(const element_types& table) {
  row_of<T>(table);
};

}  // namespace detail

inline constexpr int element_count = sizeof detail::element_table::rows / sizeof detail::element_table::rows[0];

/// The types a tensor can hold: float, double, half, bfloat16, integers of 8 to 64 bits with and without a sign, bool,
/// text.
template <class T>
concept tensor_element = detail::elements_are_float_double_half_bfloat16_bool_text_std_int8_t_to_uint64_t_no_complex<T>;

/// The value of an element type: `element_of<float> == element::float32`.
template <tensor_element T>
inline constexpr element element_of = decltype(detail::row_of<T>(detail::element_types{}))::value;

/// The type behind an element value.
template <element E>
using element_t = typename decltype(detail::type_in<E>(detail::element_types{}))::type;

/// `float`, `int32`, `bool`, `half`: as logs and errors write it.
constexpr std::string_view name_of(element e) { return detail::element_table::rows[static_cast<int>(e)].name; }

namespace detail {

/// A column of small numbers, four bits for each type: an array would be memory that every program holds.
template <class Number>
constexpr std::uint64_t digits_of(Number element_row::*column) {
  std::uint64_t digits = 0;
  for (int k = element_count - 1; k >= 0; --k)
    digits = digits << 4 | static_cast<std::uint64_t>(element_table::rows[k].*column);
  return digits;
}
inline constexpr std::uint64_t element_sizes = digits_of(&element_row::size),
                               element_kinds = digits_of(&element_row::kind),
                               element_computed = digits_of(&element_row::computed),
                               element_sums = digits_of(&element_row::sum),
                               element_accumulators = digits_of(&element_row::accumulator);
ONTO_INLINE constexpr int digit(std::uint64_t column, element e) {
  return static_cast<int>(column >> 4 * static_cast<unsigned>(e) & 15u);
}
/// The bits of the types that are stored in 16 bits and computed in float: kernels ask of each operand in each run.
constexpr unsigned find_half_precision() {
  unsigned set = 0;
  for (int k = 0; k < element_count; ++k) {
    const element_row& r = element_table::rows[k];
    set |= (r.kind == element_kind::floating && r.computed != r.type ? 1u : 0u) << k;
  }
  return set;
}
inline constexpr unsigned half_precision_types = find_half_precision();
static_assert(element_count <= 16, "[onto.element] a column has room for 16 element types");

}  // namespace detail

/// Bytes of one element.
ONTO_INLINE constexpr int size_of(element e) { return detail::digit(detail::element_sizes, e); }

ONTO_INLINE constexpr element_kind kind_of(element e) {
  return static_cast<element_kind>(detail::digit(detail::element_kinds, e));
}

ONTO_INLINE constexpr bool is_floating(element e) { return kind_of(e) == element_kind::floating; }

ONTO_INLINE constexpr bool is_text(element e) { return e == element::text; }

/// The type in which elements are computed: float for half and bfloat16, uint64 for text, else their own.
ONTO_INLINE constexpr element computed_as(element e) {
  return static_cast<element>(detail::digit(detail::element_computed, e));
}

/// Whether elements are stored in 16 bits and computed in float.
ONTO_INLINE constexpr bool is_half_precision(element e) {
  return (detail::half_precision_types >> static_cast<unsigned>(e) & 1u) != 0;
}

/// The type that kernels see: half and bfloat16 as they are stored.
ONTO_INLINE constexpr element seen_by_kernels(element e) { return is_text(e) ? computed_as(e) : e; }

/// The type of a sum or a product of elements: int64 or uint64 for integers that are narrower, but for int32, which
/// stays what it is, as all others do.
ONTO_INLINE constexpr element summed_as(element e) {
  return static_cast<element>(detail::digit(detail::element_sums, e));
}

/// The type in which a sum or a product is kept until it is complete.
ONTO_INLINE constexpr element accumulated_as(element e) {
  return static_cast<element>(detail::digit(detail::element_accumulators, e));
}

template <element E>
using computed_t = element_t<computed_as(E)>;

template <tensor_element T>
using computed_of = computed_t<element_of<T>>;

namespace detail {

/// For what takes memory of other programs and libraries as it is.
template <class T>
constexpr void expect_numbers() {
  static_assert(!is_text(element_of<T>),
                "[onto.text] files and other libraries' arrays hold numbers; serialize(t), of <onto/text.hpp>, makes "
                "bytes of texts");
}

/// The unsigned integer of so many bytes.
template <int Size>
using unsigned_of = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<Size == 2, std::uint16_t, std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

/// Whether each row is where its enumerator says, and its type is of its size.
template <int... K>
constexpr bool rows_agree(std::integer_sequence<int, K...>) {
  return ((element_table::rows[K].type == static_cast<element>(K) &&
           element_table::rows[K].size == static_cast<int>(sizeof(element_t<static_cast<element>(K)>))) &&
          ...);
}
static_assert(rows_agree(std::make_integer_sequence<int, element_count>{}));

}  // namespace detail

}  // namespace onto
