// SPDX-License-Identifier: BSL-1.0
// A product of two operands with letters for their axes, where the compiler does not know whether axes of one letter
// have one extent: the run finds out.
#pragma once

#include <onto/core/error.hpp>
#include <onto/expr/operation.hpp>

#include <cstdint>
#include <string_view>

namespace onto {

namespace detail {

/// Of an operand: how many axes it has below the reshapes that join some, the letters of these, and those that the
/// program wrote, in its order. A byte each, the first in the lowest.
struct axis_letters {
  std::int64_t rank;
  std::int64_t below;
  std::int64_t written;

  constexpr char letter(int k) const { return k < max_rank ? static_cast<char>(written >> (8 * k) & 127) : '\0'; }
  /// The extent of the axis with this letter; `dyn` where the program wrote none.
  constexpr int extent(const extents& x, char c) const {
    for (int k = 0; letter(k) != c; ++k)
      if (letter(k) == 0) return dyn;
    for (int k = 0; k < rank; ++k)
      if (static_cast<char>(below >> (8 * k) & 127) == c) return x[k];
    return dyn;
  }
};

ONTO_BEGIN_RUNS_ONCE
[[noreturn]] ONTO_COLD inline void throw_letter_of_two_extents(char c, const axis_letters* of, const extents* x) {
  message m("[onto.shape] einsum: axes of one letter have different extents, ");
  m << of[0].extent(x[0], c) << " and " << of[1].extent(x[1], c) << " of " << as_text(c) << "; operands: ";
  for (int side = 0; side < 2; ++side) {
    extents e;
    for (int k = 0; of[side].letter(k) != 0; ++k) {
      const char own = of[side].letter(k);
      e.push_back(of[side].extent(x[side], own));
      m << as_text(own);
    }
    m << " " << e << (side == 0 ? ", " : "");
  }
  fail<invalid_argument_error>(m);
}
ONTO_END_RUNS_ONCE

}  // namespace detail

namespace op {

/// The `axis_letters` of both operands; numbers, as nvcc writes types out. Attributes: how many axes each has.
template <class Product, std::int64_t RankA, std::int64_t BelowA, std::int64_t WrittenA, std::int64_t RankB,
          std::int64_t BelowB, std::int64_t WrittenB>
struct of_letters : Product {
  static constexpr int attribute_count = 2;
  static constexpr std::int64_t attribute[attribute_count] = {RankA, RankB};

  ONTO_BEGIN_RUNS_ONCE
  /// *Throws* `invalid_argument_error` where axes of one letter have different extents, of operands of these.
  static void check_letters(const extents* below) {
    constexpr detail::axis_letters of[] = {{RankA, BelowA, WrittenA}, {RankB, BelowB, WrittenB}};
    for (int k = 0; of[0].letter(k) != 0; ++k) {
      const char c = of[0].letter(k);
      const int other = of[1].extent(below[1], c);
      if (other != dyn && other != of[0].extent(below[0], c)) detail::throw_letter_of_two_extents(c, of, below);
    }
  }
  ONTO_END_RUNS_ONCE
};

}  // namespace op

}  // namespace onto
