// SPDX-License-Identifier: BSL-1.0
// Quantiles: the median, and what a part of the elements lies below. Of what is sorted, two elements at most.
#pragma once

#include <onto/core/error.hpp>
#include <onto/expr/constant.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/indexing.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/rearrange.hpp>
#include <onto/ops/rounding.hpp>
#include <onto/ops/sort.hpp>
#include <onto/ops/view.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace onto {

namespace detail {

template <class Q>
concept quantile_argument = expression<Q> || number_argument<Q>;

#define ONTO_SAYS_QUANTILE \
  "quantile: a part of the elements is from 0 to 1, the median's 0.5; the 90th percentile's 0.9"
template <class Q>
struct part_is_from_0_to_1 : mistake {
  static constexpr bool ok = sizeof(Q) > 99;
  static_assert(ok == true, "[onto.number] " ONTO_SAYS_QUANTILE);
};
[[noreturn]] ONTO_COLD inline void throw_part_is_from_0_to_1() {
  fail<invalid_argument_error>(message("[onto.number] " ONTO_SAYS_QUANTILE));
}
#undef ONTO_SAYS_QUANTILE
template <class Q>
struct parts_are_in_a_row : mistake {
  static constexpr bool ok = sizeof(Q) > 99;
  static_assert(ok == true,
                "[onto.shape] quantile: the parts are one number or a vector of them; reshape<dyn>(q) makes one");
};

constexpr bool is_part(double q) { return q >= 0 && q <= 1; }

template <class X>
struct part_is_an_argument : mistake {
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(
      ok == true,
      "[onto.axis] what stands in <> here is an axis, and the part in (): quantile(x, 0.95), quantile<0>(x, 0.95)");
};

/// The places in what is sorted that a quantile lies between, and how far it is from the first to the second.
template <class Before, class Behind, class Way>
struct quantile_place {
  Before before;
  Behind behind;
  Way way;
};
template <class Before, class Behind, class Way>
quantile_place(Before, Behind, Way) -> quantile_place<Before, Behind, Way>;

/// Of `N` elements, which the compiler or, where `N` is `dyn`, the run counts along `Axis` of `sorted`.
template <int N, int Axis, class Q, class S>
constexpr auto place_of_quantile(const Q& q, const S& sorted) {
  if constexpr (number_in_type<Q> && N != dyn) {
    constexpr double place = static_cast<double>(Q{}) * (N - 1);
    constexpr auto before = static_cast<std::int64_t>(place);
    constexpr double way = place - static_cast<double>(before);
    return quantile_place{c<before>, c<before + (way > 0)>, c<way>};
  } else if constexpr (!expression<Q>) {
    const auto number = fill<double>(q);
    return place_of_quantile<N, Axis>(number, sorted);
  } else {
    const auto last = [&] {
      if constexpr (N == dyn)
        return cast<double>(extent<Axis>(sorted) - c<1>);
      else
        return c<N - 1>;
    }();
    const auto part = cast<double>(q);
    const auto inside = minimum(maximum(part, c<0>), c<1>);
    const auto place = inside * last;
    const auto before = floor(place);
    // Where there is no such part, NaN is the way there, and what is found.
    const auto way = where(part == inside, place - before, c<std::numeric_limits<double>::quiet_NaN()>);
    return quantile_place{cast<std::int64_t>(before), cast<std::int64_t>(ceil(place)), way};
  }
}

/// The elements at a place along `Axis`, which is left out, or as `take` has it those of several.
template <int Axis, class S, class P>
constexpr auto elements_at(const S& sorted, const P& place) {
  if constexpr (number_in_type<P>)  // a view
    return element_along<Axis, static_cast<int>(P::get())>(sorted);
  else
    return take<Axis>(sorted, place);
}

/// `a` to `b`, a part of the way, as NumPy rounds it; between equal infinities there is no way.
template <class A, class B, class W>
constexpr auto part_of_the_way(const A& a, const B& b, const W& way) {
  using T = typename A::element_type;
  const auto whole = b - a;
  if constexpr (number_in_type<W>) {
    constexpr double w = static_cast<double>(W{});
    if constexpr (w == 0)
      return a;
    else if constexpr (w < 0.5)
      return where(whole == whole, a + whole * way, a);
    else
      return where(whole == whole, b - whole * c<1 - w>, a);
  } else {
    return where(whole != whole && way == way, a,
                 where(way < c<0.5>, a + whole * cast<T>(way), b - whole * cast<T>(c<1> - way)));
  }
}

/// With axes of extent 1 behind its own, of which there is one at most.
template <class E, int... K>
constexpr auto with_ones(const E& x, std::integer_sequence<int, K...>) {
  if constexpr (any_ill_formed<E> || sizeof...(K) == 0)
    return x;
  else if constexpr (E::facts.shape.rank == 0)
    return make<op::reshape<(K * 0 + 1)...>>(x);
  else
    return make<op::reshape<same_as_axis(0), (K * 0 + 1)...>>(x);
}
/// The axis of the parts first, as NumPy has it: before those `Before` it, which may be none.
template <int Axis, class R, int... Before, int... Behind>
constexpr auto parts_first(const R& r, std::integer_sequence<int, Before...>, std::integer_sequence<int, Behind...>) {
  if constexpr (sizeof...(Before) == 0)
    return r;
  else
    return permute<Axis, Before..., (Axis + 1 + Behind)...>(r);
}

template <int Axis, int Parts, class E, class Q>
constexpr auto quantile_along(const E& x, const Q& q) {
  constexpr extents e = E::facts.shape;
  constexpr auto behind_axis = std::make_integer_sequence<int, e.rank - 1 - Axis>{};
  const auto along = [&](const auto& of_parts) {  // the axis that `take` puts at `Axis`
    if constexpr (Parts == 0)
      return of_parts;
    else
      return with_ones(of_parts, behind_axis);
  };
  const auto sorted = sort<Axis>(x);
  const auto place = place_of_quantile<e[Axis], Axis>(q, sorted);
  const auto found = part_of_the_way(elements_at<Axis>(sorted, place.before), elements_at<Axis>(sorted, place.behind),
                                     along(place.way));
  const auto greatest = squeeze<Axis>(slice_axis<Axis, range<-1, to_end>>(sorted));
  const auto last = [&] {  // which is NaN where any is
    if constexpr (Parts == 0)
      return greatest;
    else
      return expand_dims<Axis>(greatest);
  }();
  using before_axis = std::make_integer_sequence<int, (Parts == 0 ? 0 : Axis)>;
  return parts_first<Axis>(where(last == last, found, last), before_axis{}, behind_axis);
}

template <class Q>
constexpr int rank_of_parts = 0;
template <expression Q>
constexpr int rank_of_parts<Q> = Q::facts.shape.rank;

template <bool Keep, int... Axis, class E, class Q>
constexpr auto quantile_of(const E& x, const Q& q) {
  static_assert(sizeof...(Axis) <= 1, "[onto.axis] a quantile is along one axis, or of all elements");
  constexpr int rank = E::facts.shape.rank, parts = rank_of_parts<Q>;
  if constexpr (any_ill_formed<E, Q>) {
    return ill_formed{};
  } else if constexpr (!(has_axis<Axis, E> && ...)) {
    return typename no_axis_of<op::sort<(Axis + ... + 0), false>, E>::result{};
  } else if constexpr (!is_floating(E::facts.type)) {
    return typename element_type_not_supported<op::sort<-1, false>, typename E::element_type>::result{};
  } else if constexpr ((sizeof...(Axis) == 0 && E::facts.shape.size() == 0) ||
                       ((E::facts.shape[normalize_axis(Axis, rank)] == 0) || ...)) {
    return typename shape_mistake<shape_fault::empty, op::sort<-1, false>, shape_of_t<E>>::result{};
  } else if constexpr (parts > 1) {
    return typename parts_are_in_a_row<Q>::result{};
  } else if constexpr (sizeof...(Axis) == 1) {
    constexpr int axis = (normalize_axis(Axis, rank) + ...);
    if constexpr (Keep)
      return expand_dims<axis + parts>(quantile_along<axis, parts>(x, q));
    else
      return quantile_along<axis, parts>(x, q);
  } else {
    if constexpr (Keep)
      return with_ones(quantile_along<0, parts>(flattened(x), q), std::make_integer_sequence<int, rank>{});
    else
      return quantile_along<0, parts>(flattened(x), q);
  }
}

template <bool Keep, int... Axis, class E, class Q>
constexpr auto checked_quantile(const E& x, const Q& q) {
  if constexpr (number_in_type<Q>) {
    if constexpr (is_part(static_cast<double>(Q{})))
      return quantile_of<Keep, Axis...>(x, q);
    else
      return typename part_is_from_0_to_1<Q>::result{};
  } else {
    if constexpr (!expression<Q>)
      if (!is_part(static_cast<double>(q))) throw_part_is_from_0_to_1();
    return quantile_of<Keep, Axis...>(x, q);
  }
}

}  // namespace detail

/// What a part `q` of the elements lies below, of all or along an axis: `quantile<0>(x, 0.9)`; between two elements a
/// part of the way, as NumPy does it, but of two equal infinities that infinity. `q` is a number from 0 to 1, or
/// numbers that an expression computes, NaN for those outside; a vector of them is the first axis of the result. NaN
/// where an element is. *Mandates* a floating-point type, an axis the operand has, an element. *Throws*
/// `invalid_argument_error` for a number outside, and for no elements. *Complexity* that of `sort`.
template <int... Axis, class E, class Q, detail::only_if<(expression<E> && detail::quantile_argument<Q>)> = 0>
constexpr auto quantile(const E& x, const Q& q) {
  return detail::checked_quantile<false, Axis...>(x, q);
}
template <int... Axis, class E, class Q, detail::only_if<(expression<E> && detail::quantile_argument<Q>)> = 0>
constexpr auto quantile(const E& x, const Q& q, keep_extents_t) {
  return detail::checked_quantile<true, Axis...>(x, q);
}

template <auto Part, class X>
  requires std::is_floating_point_v<decltype(Part)>
constexpr auto quantile(const X&) { return typename detail::part_is_an_argument<X>::result{}; }

// Parts in braces are a vector of them: `quantile<1>(x, {0.1, 0.9})`.
template <int... Axis, class X, std::size_t N, class... Keep>
auto quantile(X&& x, const double (&parts)[N], const Keep&... keep) {
  for (const double q : parts)
    if (!detail::is_part(q)) detail::throw_part_is_from_0_to_1();
  return quantile<Axis...>(static_cast<X&&>(x), constant(parts), keep...);
}

/// The element in the middle of the order, the mean of two where there are two: `quantile(x, 0.5)`.
template <int... Axis, class E, detail::only_if<expression<E>> = 0>
constexpr auto median(const E& x) {
  return detail::quantile_of<false, Axis...>(x, c<0.5>);
}
template <int... Axis, expression E>
constexpr auto median(const E& x, keep_extents_t) {
  return detail::quantile_of<true, Axis...>(x, c<0.5>);
}

}  // namespace onto
