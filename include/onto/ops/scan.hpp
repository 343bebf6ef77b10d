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

namespace onto::detail {
/// As other_headers.hpp asks.
struct scan_header {};
}  // namespace onto::detail

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

/// A value of a rule with an axis of extent 1 put in, and the sum of one over an axis.
constexpr auto with_axis_in(auto x, int axis) {
  auto& d = *x.in;
  return decltype(x)(d, d.put_in(x.at, 1u << axis, d.shape_of(x.at).rank + 1));
}
constexpr auto sum_over_axis(auto x, int axis) {
  auto& d = *x.in;
  return decltype(x)(d, d.sum_axes(x.at, x.at, 1u << axis, false));
}

}  // namespace detail

namespace op {

template <fold F, int Axis, bool Reverse>
struct scan;

/// The gradient of a scan's products as it was found: by division, which holds as long as no element is 0 or by the one
/// element that is. Operands: that, the gradient of the products, and their elements. Its own derivatives are by what
/// holds everywhere, at the price of a matrix along the axis: product (i, k) is that of the elements up to `k` without
/// element `i`.
template <int Axis, bool Reverse>
struct product_scan_gradient : detail::packed_elementwise<floating_elements> {
  static constexpr std::string_view name = "CumprodGrad";

  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T found, T, T) {
    return found;
  }

  template <int K>
  static constexpr auto derivative(auto g, auto y, auto, auto of_products, auto x) {
    if constexpr (K == 0) {
      return no_derivative{};
    } else {
      using products = scan<fold::prod, (Axis < 0 ? Axis : Axis + 1), Reverse>;
      auto& d = *x.in;
      const int rank = d.shape_of(x.at).rank;
      const bool fits = rank < max_rank;
      const int i = normalize_axis(Axis, rank), k = fits ? i + 1 : i;
      const auto along = [&](auto v, int axis) { return fits ? detail::with_axis_in(v, axis) : v; };
      const auto one = make<ones_like>(x);
      // In the order of the scan.
      const auto number = make<scan<fold::sum, Axis, Reverse>>(make<cast<std::int64_t>>(one));
      const auto number_i = along(number, k), number_k = along(number, i);
      const auto without = make<equal>(number_i, number_k);
      const auto has = make<less_equal>(number_i, number_k);
      const auto elements = make<where>(without, 1, along(x * one, i));
      const auto product = make<products>(elements);
      const auto given = along(g * one, k);
      auto result = [&] {
        if constexpr (K == 1) {
          return detail::sum_over_axis(make<where>(has, given * product, 0), i);
        } else {
          const auto by_product = make<where>(has, given * along(of_products * one, i), 0);
          return detail::sum_over_axis(make<where>(without, 0, products::derive_product(by_product, product, elements)),
                                       i);
        }
      }();
      if (!fits) result.at = d.refuse(y.at);
      return result;
    }
  }
};

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

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    const bool there = normalize_axis(Axis, operands[0].rank) >= 0;
    return {operands[0], there ? shape_fault::none : shape_fault::axis};
  }
  ONTO_END_RUNS_ONCE
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

  /// By an element before the first 0: what its products give, divided by it. By that 0: the products without it.
  static constexpr auto derive_product(auto g, auto y, auto x) {
    using sums_after = scan<fold::sum, Axis, !Reverse>;
    const auto one = make<ones_like>(x);
    const auto is_zero = make<equal>(x, 0);
    const auto zeros = make<scan<fold::sum, Axis, Reverse>>(make<where>(is_zero, one, 0));
    const auto first = make<logical_and>(is_zero, make<equal>(zeros, 1));
    const auto without = make<scan>(make<where>(first, one, x));
    const auto before = make<where>(make<equal>(zeros, 0), make<sums_after>(g * y) / x, 0);
    return make<product_scan_gradient<Axis, Reverse>>(make<where>(first, make<sums_after>(g * without), before), g, x);
  }

 private:
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
template <int Axis = -1, class E, detail::only_if<expression<E>> = 0>
constexpr auto cumsum(const E& x) {
  return make<op::scan<fold::sum, detail::axis_in<Axis, E>, false>>(x);
}
/// The sum of the elements from each to the end of the axis.
template <int Axis = -1, expression E>
constexpr auto cumsum(const E& x, reverse_t) {
  return make<op::scan<fold::sum, detail::axis_in<Axis, E>, true>>(x);
}

/// The product of the elements up to each, as `cumsum`.
template <int Axis = -1, class E, detail::only_if<expression<E>> = 0>
constexpr auto cumprod(const E& x) {
  return make<op::scan<fold::prod, detail::axis_in<Axis, E>, false>>(x);
}
template <int Axis = -1, expression E>
constexpr auto cumprod(const E& x, reverse_t) {
  return make<op::scan<fold::prod, detail::axis_in<Axis, E>, true>>(x);
}

/// The greatest of the elements up to each, of their type, as `cumsum`; NaN from the first NaN on.
template <int Axis = -1, class E, detail::only_if<expression<E>> = 0>
constexpr auto cummax(const E& x) {
  return make<op::scan<fold::max, detail::axis_in<Axis, E>, false>>(x);
}
template <int Axis = -1, expression E>
constexpr auto cummax(const E& x, reverse_t) {
  return make<op::scan<fold::max, detail::axis_in<Axis, E>, true>>(x);
}

/// The smallest of the elements up to each, as `cummax`.
template <int Axis = -1, class E, detail::only_if<expression<E>> = 0>
constexpr auto cummin(const E& x) {
  return make<op::scan<fold::min, detail::axis_in<Axis, E>, false>>(x);
}
template <int Axis = -1, expression E>
constexpr auto cummin(const E& x, reverse_t) {
  return make<op::scan<fold::min, detail::axis_in<Axis, E>, true>>(x);
}

}  // namespace onto
