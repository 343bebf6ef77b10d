// SPDX-License-Identifier: BSL-1.0
// Sort keys: unsigned integers in the order of the elements they are made of, so that sorting knows no element types
// and gives the same on every backend.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/core/half.hpp>
#include <onto/ops/sort.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace onto::detail {

/// The keys of elements of type `T`: from the least to the greatest, of which NaN is one, whatever its bits are.
/// *Source* for floating point: Herf, Radix Tricks, 2001.
template <class T>
struct sort_key {
  using bits = unsigned_of<static_cast<int>(sizeof(T))>;
  static constexpr bool floating = is_floating(element_of<T>);
  static constexpr bits all = static_cast<bits>(~bits{0});
  static constexpr bits infinity = [] {
    if constexpr (floating)
      return __builtin_bit_cast(bits, static_cast<T>(std::numeric_limits<computed_of<T>>::infinity()));
    else
      return bits{0};
  }();
  static constexpr bits sign =
      floating || std::is_signed_v<T> ? static_cast<bits>(bits{1} << (8 * sizeof(bits) - 1)) : bits{0};

  /// `zeros_are_equal`: else -0 is before 0, so that each key is of one value.
  ONTO_HD ONTO_INLINE static constexpr bits of(T x, bool zeros_are_equal) {
    if constexpr (floating) {
      const auto u = __builtin_bit_cast(bits, x);
      const auto size = static_cast<bits>(u & ~sign);  // by bits, as -ffast-math takes it that there is no NaN
      const auto in_order = static_cast<bits>((u & sign) != 0 ? ~u : u | sign);
      const bits number = zeros_are_equal && size == 0 ? sign : in_order;
      return size > infinity ? all : number;
    } else {
      return static_cast<bits>(static_cast<bits>(x) ^ sign);
    }
  }
  /// The element of a key; of a key of NaN, a NaN.
  ONTO_HD ONTO_INLINE static constexpr T value(bits key) {
    if constexpr (floating)
      return __builtin_bit_cast(T, static_cast<bits>((key & sign) != 0 ? key & ~sign : ~key));
    else
      return static_cast<T>(static_cast<bits>(key ^ sign));
  }
};

/// What a sort does whatever its axis is: from the greatest on, and whether it gives the numbers of elements.
template <bool Descending, bool Numbers>
struct sorting {
  static constexpr bool descending = Descending, numbers = Numbers;
};

/// The key of an element in ascending order of keys, and the element of a key.
template <class Rule, class T>
struct ordered {
  using keys = sort_key<T>;
  using bits = typename keys::bits;

  ONTO_HD ONTO_INLINE static bits key(T x) {
    const bits k = keys::of(x, Rule::numbers);
    return Rule::descending ? static_cast<bits>(~k) : k;
  }
  ONTO_HD ONTO_INLINE static T value(bits k) { return keys::value(Rule::descending ? static_cast<bits>(~k) : k); }

  /// Numbers in the order of elements but NaN, without a branch: what vectors compare.
  using ordinal = std::make_signed_t<bits>;
  ONTO_HD ONTO_INLINE static ordinal ordinal_of(T x) {
    const auto u = __builtin_bit_cast(bits, x);
    if constexpr (keys::floating)
      return static_cast<ordinal>(u ^
                                  (static_cast<bits>(static_cast<ordinal>(u) >> (8 * sizeof(bits) - 1)) & ~keys::sign));
    else
      return static_cast<ordinal>(u ^ keys::sign ^ static_cast<bits>(bits{1} << (8 * sizeof(bits) - 1)));
  }
  /// Whether an element may be before one of that ordinal: false only where it is not.
  ONTO_HD ONTO_INLINE static bool may_be_before(T x, ordinal bound) {
    const ordinal k = ordinal_of(x);
    const bool before = Rule::descending ? k > bound : k < bound;
    if constexpr (keys::floating)
      return before |
             (static_cast<ordinal>(__builtin_bit_cast(bits, x) & ~keys::sign) > static_cast<ordinal>(keys::infinity));
    else
      return before;
  }
};

}  // namespace onto::detail
