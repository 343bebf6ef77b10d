// SPDX-License-Identifier: BSL-1.0
// How a scan accumulates: what is kept up to an element, how the next one joins it, what comes out. The same on every
// backend.
#pragma once

#include <onto/core/config.hpp>
#include <onto/kernel/accumulator.hpp>

#include <type_traits>

namespace onto::detail {

/// A scan by the fold `F` over elements that are computed in type `T`. What is kept is a term and, of a sum of doubles,
/// what rounding has taken from it; else `lost` is not looked at.
/// *Source* Knuth, The Art of Computer Programming 2, 4.2.2, theorem B (the error of one addition).
template <fold F, class T>
struct scanning {
  static constexpr fold by = F;
  static constexpr bool compensated = F == fold::sum && std::is_same_v<T, double>;
  static constexpr bool extreme = F == fold::min || F == fold::max;
  using numbers = number_state<F, T>;
  using term = typename numbers::type;
  using result = typename numbers::result;

  /// What is kept of no elements.
  ONTO_HD static term empty() { return numbers::identity; }

  /// As `add` of a running maximum or minimum, where `x` is not NaN: one instruction, without a branch, for which what
  /// follows waits. A NaN that is kept stays.
  ONTO_HD ONTO_INLINE static void add_ordered(term& kept, term x) {
    kept = (F == fold::min ? x < kept : x > kept) ? x : kept;
  }

  /// The element `x` follows what is kept.
  ONTO_HD ONTO_INLINE static void add(term& kept, [[maybe_unused]] term& lost, term x) {
    if constexpr (compensated) {
      const term sum = kept + x, part = sum - kept;
      lost += (kept - (sum - part)) + (x - part);
      kept = sum;
    } else if constexpr (extreme && std::is_floating_point_v<term>) {
      if (x == x)
        add_ordered(kept, x);
      else
        kept = kept + x;
    } else {
      kept = numbers::combine(kept, x);
    }
  }

  /// What is kept of the elements that follow joins.
  ONTO_HD ONTO_INLINE static void merge(term& kept, term& lost, term next, term lost_next) {
    add(kept, lost, next);
    if constexpr (compensated) lost += lost_next;
  }

  /// The errors of an infinite sum are not numbers; they are left out.
  ONTO_HD ONTO_INLINE static result finish(term kept, [[maybe_unused]] term lost) {
    if constexpr (compensated)
      return lost == lost ? kept + lost : kept;
    else
      return static_cast<result>(kept);
  }
};

/// What is kept of some elements beside each other, as one value: a number alone where it is all there is, which is
/// half as much to hand on, and for which CUB has a short way.
template <class Rule, bool Compensated = Rule::compensated>
struct scan_state {
  using term = typename Rule::term;
  struct type {
    term kept, lost;
  };
  ONTO_HD ONTO_INLINE static type of(term x) { return {x, term(0)}; }
  ONTO_HD ONTO_INLINE static void add(type& s, term x) { Rule::add(s.kept, s.lost, x); }
  ONTO_HD ONTO_INLINE static void append(type& s, const type& next) {
    Rule::merge(s.kept, s.lost, next.kept, next.lost);
  }
  ONTO_HD ONTO_INLINE static typename Rule::result finish(const type& s) { return Rule::finish(s.kept, s.lost); }
};
template <class Rule>
struct scan_state<Rule, false> {
  using type = typename Rule::term;
  ONTO_HD ONTO_INLINE static type of(type x) { return x; }
  ONTO_HD ONTO_INLINE static void add(type& s, type x) {
    type none{};
    Rule::add(s, none, x);
  }
  ONTO_HD ONTO_INLINE static void append(type& s, type next) { add(s, next); }
  ONTO_HD ONTO_INLINE static typename Rule::result finish(type s) { return Rule::finish(s, {}); }
};

}  // namespace onto::detail
