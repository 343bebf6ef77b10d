// SPDX-License-Identifier: BSL-1.0
// What is made of reductions: variance, standard deviation, norm, the logarithm of a sum of exponentials.
#pragma once

#include <onto/ops/arithmetic.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/rearrange.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/rounding.hpp>
#include <onto/ops/unary.hpp>

#include <type_traits>

namespace onto {

namespace detail {

/// The axes that are left of `rank` when these are taken out, as extents of a reshape.
template <int... Axes, class E, class M>
constexpr auto without_axes(const E&, const M& m) {
  constexpr int rank = E::facts.shape.rank;
  constexpr unsigned folded = sizeof...(Axes) == 0 ? ~0u : ((1u << normalize_axis(Axes, rank)) | ... | 0u);
  constexpr auto kept = [] {
    extents r;
    for (int k = 0; k < rank; ++k)
      if ((folded >> k & 1u) == 0) r.push_back(same_as_axis(k));
    return r;
  }();
  return [&]<std::size_t... K>(std::index_sequence<K...>) { return make<op::reshape<kept.dims[K]...>>(m); }
  (std::make_index_sequence<static_cast<std::size_t>(kept.rank)>{});
}

template <bool Keep, int... Axes, class E>
constexpr auto logsumexp_as(const E& x) {
  constexpr static_number<0, number_kind::integer> zero{};
  const auto greatest = max<Axes...>(x, keep_extents);
  if constexpr (any_ill_formed<std::remove_cv_t<decltype(greatest)>>) {
    return ill_formed{};
  } else {
    // Of infinity alone a difference is no number: then nothing is taken off.
    const auto shift = where(greatest - greatest == zero, greatest, zero);
    const auto logarithm = log(sum<Axes...>(exp(x - shift), keep_extents)) + shift;
    if constexpr (Keep)
      return logarithm;
    else
      return without_axes<Axes...>(x, logarithm);
  }
}

/// Halves, whose sums of squares leave their range long before the roots do: what is between the two kernels is a
/// float. With `keep_extents` it is mostly in one kernel with what reads it, all in floats.
template <class E>
inline constexpr bool takes_floats = is_half_precision(E::facts.type);

/// The distances from the mean, squared. The mean of all is the one that `mean(x)` is: a program that has both computes
/// it once. The distance is no `x - mean(x)`, which a program may have too: what two kernels use would be kept in
/// memory.
template <int... Axes, class E>
constexpr auto squared_from_mean(const E& x) {
  if constexpr (sizeof...(Axes) == 0)
    return square(mean(x) - x);
  else
    return square(x - mean<Axes...>(x, keep_extents));
}

}  // namespace detail

/// The mean of the squared distances from the mean, over all axes or the named ones. Of a sample of n, times n / (n -
/// 1). *Mandates* a floating-point type, and axes as `sum`. The distances are taken before they are squared: nothing
/// cancels.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto var(const E& x) {
  return mean<Axes...>(detail::squared_from_mean<Axes...>(x));
}
template <int... Axes, expression E>
constexpr auto var(const E& x, keep_extents_t keep) {
  return mean<Axes...>(detail::squared_from_mean<Axes...>(x), keep);
}

/// The standard deviation, the root of `var`: NumPy's `std`, which in C++ is a namespace.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto stddev(const E& x) {
  if constexpr (detail::takes_floats<E>)
    return cast<typename E::element_type>(stddev<Axes...>(cast<float>(x)));
  else
    return sqrt(var<Axes...>(x));
}
template <int... Axes, expression E>
constexpr auto stddev(const E& x, keep_extents_t keep) {
  return sqrt(var<Axes...>(x, keep));
}

/// The root of the sum of squares over all axes or the named ones: a vector's length, a matrix's Frobenius norm. Other
/// norms are written as they are defined: `sum(abs(x))`, `max(abs(x))`. *Mandates* a floating-point type, and axes as
/// `sum`.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto norm(const E& x) {
  if constexpr (detail::takes_floats<E>)
    return cast<typename E::element_type>(norm<Axes...>(cast<float>(x)));
  else
    return sqrt(sum<Axes...>(square(x)));
}
template <int... Axes, expression E>
constexpr auto norm(const E& x, keep_extents_t keep) {
  return sqrt(sum<Axes...>(square(x), keep));
}

/// `log(sum(exp(x)))` over all axes or the named ones, with the greatest element taken off first, so that nothing
/// overflows. *Mandates* a floating-point type, an element, and axes as `sum`.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto logsumexp(const E& x) {
  if constexpr (detail::takes_floats<E>)
    return cast<typename E::element_type>(logsumexp<Axes...>(cast<float>(x)));
  else
    return detail::logsumexp_as<false, Axes...>(x);
}
template <int... Axes, expression E>
constexpr auto logsumexp(const E& x, keep_extents_t) {
  return detail::logsumexp_as<true, Axes...>(x);
}

}  // namespace onto
