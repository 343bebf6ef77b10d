// SPDX-License-Identifier: BSL-1.0
// Scans: along an axis, each element becomes the sum, the product or the extreme of those up to it. Programs say them
// with <onto/scan.hpp>, which brings the kernels too.
#pragma once

#include <onto/ops/operation_base.hpp>

#include <onto/ops/arithmetic.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/indexing.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/unary.hpp>

namespace onto {

struct reverse_t {
  explicit reverse_t() = default;
};

/// A scan that begins at the end of its axis: `cumsum<0>(x, reverse)`.
inline constexpr reverse_t reverse{};

namespace detail {

constexpr std::string_view name_of_scan(fold f) {
  return f == fold::sum ? "Cumsum" : f == fold::prod ? "Cumprod" : f == fold::min ? "Cummin" : "Cummax";
}

}  // namespace detail

namespace op {

/// Attributes: the fold, the axis, whether it begins at the end.
template <fold F, int Axis, bool Reverse>
struct scan {
  static_assert(F == fold::sum || F == fold::prod || F == fold::min || F == fold::max);

  static constexpr op_kind kind = op_kind::own_kernel;
  static constexpr std::string_view name = detail::name_of_scan(F);
  static constexpr int cost = 1;
  static constexpr kernel_set kernels{numeric_elements, numeric_elements};
  static constexpr int attribute_count = 3;
  static constexpr std::int64_t attribute[attribute_count] = {static_cast<std::int64_t>(F), Axis, Reverse};

  static constexpr inferred infer(const extents* operands, int) {
    const bool there = normalize_axis(Axis, operands[0].rank) >= 0;
    return {operands[0], there ? shape_fault::none : shape_fault::axis};
  }
  static constexpr detail::element_check check(element x) { return detail::check_same(numeric_elements, x); }
  /// What CUB keeps for each of its tiles, of 256 elements or more: two sums with their keys, a key and a mark.
  static constexpr std::int64_t workspace(const extents* operands, int) {
    constexpr std::int64_t tile = 256, bytes_of_tile = 80, more = 64;
    const std::int64_t n = operands[0].size();
    return n > 0 ? detail::times(n / tile + 1 + more, bytes_of_tile) : 0;
  }
  static constexpr element result(element x) { return F == fold::sum || F == fold::prod ? summed_as(x) : x; }
  template <int>
  static constexpr auto derivative(auto g, auto y, auto x) {
    if constexpr (F == fold::sum)
      return make<scan<F, Axis, !Reverse>>(g);
    else if constexpr (F == fold::prod)
      return derive_product(g, y, x);
    else
      return make<gather_gradient<take_along<Axis>>>(last_extreme(y, x), x, g);
  }

 private:
  /// By an element before the first 0: what its products give, divided by it. By that 0: the products without it.
  static constexpr auto derive_product(auto g, auto y, auto x) {
    using sums_after = scan<fold::sum, Axis, !Reverse>;
    const auto one = make<ones_like>(x);
    const auto is_zero = make<equal>(x, 0);
    const auto zeros = make<scan<fold::sum, Axis, Reverse>>(make<where>(is_zero, one, 0));
    const auto first = make<logical_and>(is_zero, make<equal>(zeros, 1));
    const auto without = make<scan>(make<where>(first, one, x));
    const auto before = make<where>(make<equal>(zeros, 0), make<sums_after>(g * y) / x, 0);
    return make<where>(first, make<sums_after>(g * without), before);
  }
  /// The number of the element that each result is: the last of those that are equal.
  static constexpr auto last_extreme(auto y, auto x) {
    const auto ones = make<cast<std::int64_t>>(make<ones_like>(x));
    const auto number = make<scan<fold::sum, Axis, Reverse>>(ones);
    const auto there = make<logical_or>(make<equal>(x, y), make<not_equal>(x, x));
    const auto last = make<scan<fold::max, Axis, Reverse>>(make<where>(there, number, 0));
    if constexpr (Reverse)
      return make<neg>(last);  // from the end
    else
      return last - 1;
  }
};

}  // namespace op

namespace detail {

/// The attributes of a scan: the axis of an operand of `rank` dimensions, and whether it begins at the end.
constexpr int scan_axis(const op_info& op, int rank) { return normalize_axis(static_cast<int>(op.attribute[1]), rank); }
constexpr bool scans_backwards(const op_info& op) { return op.attribute[2] != 0; }

}  // namespace detail

/// The sum of the elements up to each, itself included, along one axis: the last unless another is named. Of the type
/// of `sum`: integers of fewer than 64 bits become int64 or uint64, but int32 stays; all wrap around.
/// *Returns* a tensor of the operand's shape. *Mandates* elements that are numbers, which bool is not (`cast` makes it
/// one), and an axis the operand has; negative axes count from the end.
/// *Complexity* an addition an element; each sum of floating-point numbers is kept as `sum` keeps it, and rounded once.
template <int Axis = -1, expression E>
constexpr auto cumsum(const E& x) {
  return make<op::scan<fold::sum, detail::axis_in<Axis, E>, false>>(x);
}
/// The sum of the elements from each to the end of the axis.
template <int Axis = -1, expression E>
constexpr auto cumsum(const E& x, reverse_t) {
  return make<op::scan<fold::sum, detail::axis_in<Axis, E>, true>>(x);
}

/// The product of the elements up to each, as `cumsum`.
template <int Axis = -1, expression E>
constexpr auto cumprod(const E& x) {
  return make<op::scan<fold::prod, detail::axis_in<Axis, E>, false>>(x);
}
template <int Axis = -1, expression E>
constexpr auto cumprod(const E& x, reverse_t) {
  return make<op::scan<fold::prod, detail::axis_in<Axis, E>, true>>(x);
}

/// The greatest of the elements up to each, of their type, as `cumsum`; NaN from the first NaN on.
template <int Axis = -1, expression E>
constexpr auto cummax(const E& x) {
  return make<op::scan<fold::max, detail::axis_in<Axis, E>, false>>(x);
}
template <int Axis = -1, expression E>
constexpr auto cummax(const E& x, reverse_t) {
  return make<op::scan<fold::max, detail::axis_in<Axis, E>, true>>(x);
}

/// The smallest of the elements up to each, as `cummax`.
template <int Axis = -1, expression E>
constexpr auto cummin(const E& x) {
  return make<op::scan<fold::min, detail::axis_in<Axis, E>, false>>(x);
}
template <int Axis = -1, expression E>
constexpr auto cummin(const E& x, reverse_t) {
  return make<op::scan<fold::min, detail::axis_in<Axis, E>, true>>(x);
}

}  // namespace onto
