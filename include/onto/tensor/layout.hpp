// SPDX-License-Identifier: BSL-1.0
// Which shapes a tensor may be given, and where its values lie: row-major, the last index next to each other.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/core/error.hpp>
#include <onto/shape/extents.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <type_traits>

namespace onto {

/// The extents of a tensor, as `shape()` returns them: a `std::array<int, Rank>` that prints, as `(2, 3)`.
template <int Rank>
struct shape_array : std::array<int, static_cast<std::size_t>(Rank)> {
  constexpr shape_array() : std::array<int, static_cast<std::size_t>(Rank)>{} {}
  constexpr shape_array(const std::array<int, static_cast<std::size_t>(Rank)>& dims)
      : std::array<int, static_cast<std::size_t>(Rank)>(dims) {}

  /// As NumPy: `(2, 3)`, `(2,)`, `()`.
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const shape_array& s) {
    out << '(';
    for (int k = 0; k < Rank; ++k) out << (k ? ", " : "") << s[static_cast<std::size_t>(k)];
    return out << (Rank == 1 ? ",)" : ")");
  }
};

}  // namespace onto

template <int Rank>
struct std::tuple_size<onto::shape_array<Rank>> : std::integral_constant<std::size_t, static_cast<std::size_t>(Rank)> {
};
template <std::size_t K, int Rank>
struct std::tuple_element<K, onto::shape_array<Rank>> {
  using type = int;
};

namespace onto::detail {

/// True where a tensor of extents `from` may have extents `to`: no axis is known to differ.
constexpr bool may_agree(const extents& from, const extents& to) {
  if (from.rank != to.rank) return false;
  for (int k = 0; k < from.rank; ++k)
    if (from[k] != dyn && to[k] != dyn && from[k] != to[k]) return false;
  return true;
}

}  // namespace onto::detail

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What compilers name where an element is asked for by more or fewer: `t(i, j)` of a matrix, `t()` of a tensor without
/// axes. A deleted function, and no assertion: whether a tensor can be called so stays a question that has an answer.
struct an_element_has_one_index_for_each_axis;

template <class Tensor>
struct several_elements_are_no_condition {
  using reported = void;
  static constexpr bool ok = sizeof(Tensor) == 0;
  static_assert(ok == true,
                "[onto.tensor] several elements are no condition; reduce them in the program, evaluate(all(x < y)) or "
                "any(x < y), or compare tensors as a whole: t == u");
};
template <class Tensor>
bool no_truth_value() {
  static_cast<void>(static_cast<typename several_elements_are_no_condition<Tensor>::reported*>(nullptr));
  return false;
}

/// True where a tensor of extents `from` always has extents `to`, so that a conversion needs no check.
constexpr bool always_agree(const extents& from, const extents& to) {
  if (from.rank != to.rank) return false;
  for (int k = 0; k < from.rank; ++k)
    if (to[k] != dyn && from[k] != to[k]) return false;
  return true;
}

/// `checked_count` where a product of the extents is not to be had: one of them is 0, or something is wrong.
ONTO_COLD inline std::size_t zero_or_throw(const extents& given, const extents& declared) {
  if (given.rank != declared.rank)
    fail<invalid_argument_error>(message("[onto.tensor] a shape of ")
                                 << given.rank << " extents was given to a tensor of shape " << declared
                                 << "; give one extent per axis");
  for (int k = 0; k < given.rank; ++k)
    if (given[k] < 0)
      fail<invalid_argument_error>(message("[onto.tensor] axis ")
                                   << k << " was given extent " << given[k] << "; an extent is 0 or positive");
  if (!may_agree(given, declared))
    fail<invalid_argument_error>(message("[onto.tensor] shape")
                                 << " " << given << " does not fit a tensor of type shape " << declared
                                 << "; change the shape, or make the extent dyn in the type");
  for (int k = 0; k < given.rank; ++k)
    if (given[k] == 0) return 0;
  fail<invalid_argument_error>(message("[onto.tensor]")
                               << " a tensor of shape " << given
                               << " has more bytes than memory has addresses; use a smaller shape");
}

/// *Throws* `invalid_argument_error` unless `given` values are as many as `count` says for `shape`.
inline void check_values(std::size_t given, std::size_t count, const extents& shape) {
  if (given != count)
    throw invalid_argument_error("[onto.tensor] " + std::to_string(given) + " values were given for shape " +
                                 to_string(shape) + ", which has " + std::to_string(count) +
                                 "; give exactly one value per element");
}

/// Extents for `values` values without a shape: every extent from the type, and a single dyn axis takes them all.
inline extents shape_of_values(std::size_t values, extents declared) {
  if (declared.rank == 1) {
    if (values > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw invalid_argument_error("[onto.tensor] " + std::to_string(values) +
                                   " values do not fit on one axis; an extent is at most 2147483647");
    declared[0] = static_cast<int>(values);
  }
  return declared;
}

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_moved_from() {
  fail<failed_precondition_error>(
      message("[onto.tensor] a tensor holds no values: it was moved from, or an expression outlived it; assign to it, "
              "or take data by const auto&"));
}

[[noreturn]] ONTO_COLD inline void throw_outside(const extents& shape, const std::int64_t* index) {
  std::string s = "[onto.tensor] index (";
  for (int k = 0; k < shape.rank; ++k) s += (k ? ", " : "") + std::to_string(index[k]);
  throw invalid_argument_error(s + ") is outside a tensor of shape " + to_string(shape) +
                               "; an index goes from 0 to its extent less one");
}

}  // namespace onto::detail
ONTO_END_RUNS_ONCE

// What runs and elements pass through, so optimized.
namespace onto::detail {

/// A shape given as a value: `extents`, or `std::array<int, Rank>` as `shape()` returns it.
template <class Shape, int Rank>
inline constexpr bool is_shape_value = std::is_same_v<Shape, extents>;
template <std::size_t N, int Rank>
inline constexpr bool is_shape_value<std::array<int, N>, Rank> = N == static_cast<std::size_t>(Rank);

template <int Given, int Rank>
inline constexpr bool is_shape_value<shape_array<Given>, Rank> = Given == Rank;

template <class Shape, int Rank>
concept shape_value = is_shape_value<Shape, Rank>;

constexpr const extents& to_extents(const extents& e) { return e; }

template <std::size_t N>
constexpr extents to_extents(const std::array<int, N>& dims) {
  extents e;
  for (int k = 0; k < static_cast<int>(N); ++k) e.push_back(dims[static_cast<std::size_t>(k)]);
  return e;
}

/// Every integer converts to it without loss, so that extents in braces may be of any types, which a run compares with
/// what an extent holds.
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 any_integer;
#else
using any_integer = std::int64_t;
#endif

/// What an array holds that is no text.
template <class Int>
concept integer_in_an_array = std::is_integral_v<Int> && sizeof(Int) > 1;

[[noreturn]] ONTO_COLD inline void throw_no_extent(std::size_t axis, any_integer given) {
  message m("[onto.tensor] axis ");
  m << static_cast<int>(axis) << " was given extent ";
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (given > most) m << "above ";
  m << (given > most ? most : static_cast<std::int64_t>(given))
    << (given < 0 ? "; an extent is 0 or positive" : "; an extent is at most 2147483647");
  fail<invalid_argument_error>(m);
}

/// Extents that were given as integers in braces or an array: `Rank` of them, or any number; `Alone`: without values.
/// *Throws* `invalid_argument_error` where one is no int.
template <int Rank = -1, bool Alone = false, class Integer, std::size_t N>
constexpr extents to_extents(const Integer (&dims)[N]) {
  static_assert(N <= max_rank, "[onto.shape] a tensor has at most 8 dimensions; reshape to fewer");
  static_assert(
      !Alone || static_cast<int>(N) == Rank,
      "[onto.tensor] t({...}) is a shape and takes one extent per axis, as of tensor<float, dyn, dyn>; for values "
      "write t{...}");
  static_assert(Alone || Rank < 0 || static_cast<int>(N) == Rank, "[onto.tensor] a shape takes one extent per axis");
  extents e;
  for (std::size_t k = 0; k < N; ++k) {
    if constexpr (!std::is_same_v<Integer, int>)
      if (static_cast<int>(dims[k]) != any_integer{dims[k]}) throw_no_extent(k, dims[k]);
    e.push_back(static_cast<int>(dims[k]));
  }
  return e;
}

template <int Rank>
constexpr std::array<int, static_cast<std::size_t>(Rank)> to_array(const extents& e) {
  std::array<int, static_cast<std::size_t>(Rank)> dims{};
  for (int k = 0; k < Rank; ++k) dims[static_cast<std::size_t>(k)] = e.dims[k];
  return dims;
}

/// The number of elements of a tensor whose type says `declared` and which is given `given`.
/// *Throws* `invalid_argument_error` where the two differ, an extent is negative, or the bytes cannot be counted.
ONTO_NOINLINE inline std::size_t checked_count(const extents& given, const extents& declared, element type) {
  bool fits = given.rank == declared.rank;
  std::int64_t count = 1, bytes = 0;
  for (int k = 0; fits && k < given.rank; ++k)
    fits = given[k] >= 0 && (declared[k] == dyn || declared[k] == given[k]) &&
           !__builtin_mul_overflow(count, std::int64_t{given[k]}, &count);
  if (!fits || __builtin_mul_overflow(count, std::int64_t{size_of(type)}, &bytes))
    return zero_or_throw(given, declared);
  return static_cast<std::size_t>(count);
}

/// The value of a tensor of rank 0. *Throws* `failed_precondition_error` where there is none.
template <class T>
ONTO_INLINE const T* expect_value(const T* value) {
  if (!value) throw_moved_from();
  return value;
}

/// What says where an element is: an integer, or a result that is one, as that of `argmax`.
template <class X>
concept index_value = std::is_integral_v<X> || requires {
  requires X::rank == 0 && std::is_integral_v<typename X::element_type>;
};
template <std::size_t Rank, class... Index>
ONTO_INLINE bool inside(const std::array<int, Rank>& shape, const Index&... index) {
  bool all = true;
  std::size_t axis = 0;
  ((all = all && static_cast<std::int64_t>(index) >= 0 && static_cast<std::int64_t>(index) < shape[axis++]), ...);
  static_cast<void>(axis);
  static_cast<void>(shape);
  return all;
}

/// The place of an element: ((i * extent 1 + j) * extent 2 + k) ...
template <std::size_t Rank, class... Index>
ONTO_INLINE std::size_t offset_of(const std::array<int, Rank>& shape, const Index&... index) {
  std::size_t offset = 0;
  std::size_t axis = 0;
  ((offset = offset * static_cast<std::size_t>(shape[axis++]) + static_cast<std::size_t>(index)), ...);
  static_cast<void>(axis);
  static_cast<void>(shape);
  return offset;
}

template <std::size_t Rank, class... Index>
std::size_t checked_offset_of(const std::array<int, Rank>& shape, const Index&... index) {
  if (!inside(shape, index...)) {
    const std::int64_t values[] = {static_cast<std::int64_t>(index)..., 0};
    throw_outside(to_extents(shape), values);
  }
  return offset_of(shape, index...);
}

}  // namespace onto::detail
