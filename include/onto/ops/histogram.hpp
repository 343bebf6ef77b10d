// SPDX-License-Identifier: BSL-1.0
// Histograms: the bin of each element, and how many elements are in each bin.
#pragma once

#include <onto/core/error.hpp>
#include <onto/expr/constant.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/indexing.hpp>
#include <onto/ops/operation_base.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace onto {

namespace op {

/// The bin of an element among `N` of equal width between two numbers, int64, whose edges are those of `linspace` for
/// tensors of `Element`; -1 of an element that is in none.
template <int N, class Element>
struct bucketize : elementwise<floating_elements> {
  static constexpr std::string_view name = "Bucketize";
  static constexpr int cost = 12;
  static constexpr bool never_throws = true;

  template <class... E>
  static constexpr element result(E...) {
    return element::int64;
  }

  template <class T>
  ONTO_HD ONTO_INLINE static std::int64_t apply(T x, T first, T last) {
    // Far from the edges a product finds the bin, but for what was rounded of it and of them. What is the same for all
    // elements is computed on every path, so that compilers move it out of loops.
    constexpr T rounded = T(4) / static_cast<T>(std::int64_t{1} << (std::numeric_limits<Element>::digits - 1));
    const T scale = T(N) / (last - first), margin = (T(N) + (math::abs(first) + math::abs(last)) * scale) * rounded;
    const T at = (x - first) * scale, below_last = T(N) - margin, below_next = T(1) - margin;
    const double step = edges::step(first, last);
    if (at > margin && at < below_last) {  // so x is in a bin
      const auto k = static_cast<std::int64_t>(at);
      const T above = at - static_cast<T>(k);
      if (above > margin && above < below_next) return k;
    }
    if (!(x >= first && x <= last)) return -1;
    // Whole numbers and percentages lie on edges: their bin is that of the product, or a neighbour of it.
    const auto is_below = [&](std::int64_t edge) {
      return edge >= N || (edge > 0 && x < static_cast<T>(static_cast<Element>(edges::at(edge, first, last, step))));
    };
    std::int64_t k = at >= T(N) ? N - 1 : at >= T(0) ? static_cast<std::int64_t>(at) : 0;
    const bool is_before = is_below(k), is_behind = !is_below(k + 1);
    k += static_cast<int>(is_behind) - static_cast<int>(is_before);
    if (is_behind == is_before || (is_before ? !is_below(k) : is_below(k + 1))) return k;
    std::int64_t low = 0, high = N - 1;
    while (low < high) {
      k = (low + high + 1) / 2;
      if (is_below(k))
        high = k - 1;
      else
        low = k;
    }
    return low;
  }

 private:
  using edges = linspace<Element, N + 1>;
};

}  // namespace op

namespace detail {

template <class First, class Last>
struct bins_have_no_range : mistake {
  static constexpr bool ok = sizeof(First) > 99;
  static_assert(ok == true, "[onto.number] histogram: bins go from a number to one that is no less, both finite");
};

template <class E>
struct bins_are_counted : mistake {
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(ok == true,
                "[onto.shape] histogram: the number of bins is known to the compiler: histogram<10>(x, 0, 1)");
};

/// By how much NumPy moves the edges of bins: apart where they are one, else not; or -1 where they are no range.
constexpr double bins_moved(double first, double last) {
  if (!(last - first >= 0 && last - first <= std::numeric_limits<double>::max())) return -1;
  return first == last ? 0.5 : 0;
}
[[noreturn]] ONTO_COLD inline void throw_bins_have_no_range() {
  fail<invalid_argument_error>(
      message("[onto.number] histogram: bins go from a number to one that is no less, both finite"));
}

template <int N, class E, class L, class R>
constexpr auto count_in_bins(const E& x, const L& first, const R& last) {
  using T = typename E::element_type;
  return bincount<N>(make<op::bucketize<N, T>>(flattened(x), lift<E>(first), lift<E>(last)));
}

}  // namespace detail

/// How many elements are in each of `N` bins of equal width from `first` to `last`, as int64; a bin has its lower edge,
/// the last one both. What lies outside, and NaN, is left out. Where the two are one they go half to each side of it.
/// *Mandates* a floating-point type, and, of numbers in the type, `first` no greater than `last`, both finite.
/// *Throws* `invalid_argument_error` for others that are not.
template <int N, expression E, detail::number_argument L, detail::number_argument R>
constexpr auto histogram(const E& x, const L& first, const R& last) {
  if constexpr (N < 0) {
    return typename detail::bins_are_counted<E>::result{};
  } else if constexpr (detail::number_in_type<L> && detail::number_in_type<R>) {
    constexpr double by = detail::bins_moved(static_cast<double>(L{}), static_cast<double>(R{}));
    if constexpr (by < 0)
      return typename detail::bins_have_no_range<L, R>::result{};
    else if constexpr (by > 0)
      return detail::count_in_bins<N>(x, first - c<by>, last + c<by>);
    else
      return detail::count_in_bins<N>(x, first, last);
  } else if constexpr (!is_floating(E::facts.type) || std::is_same_v<L, bool> || std::is_same_v<R, bool>) {
    return detail::count_in_bins<N>(x, first, last);
  } else {
    const double from = static_cast<double>(first), to = static_cast<double>(last);
    const double by = detail::bins_moved(from, to);
    if (by < 0) detail::throw_bins_have_no_range();
    return detail::count_in_bins<N>(x, from - by, to + by);
  }
}

}  // namespace onto
