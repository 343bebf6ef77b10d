// SPDX-License-Identifier: BSL-1.0
// Elements by number: read (take, take_along_axis, dynamic_slice), written (scatter, update_slice), brought together
// (segment_sum, segment_max, bincount), found (searchsorted), and an extent as a value. Programs say them with
// <onto/indexing.hpp>, which brings the kernels too. A number below 0 counts from the end; what then lies outside is
// the nearest there is where elements are read, and nothing where they are written: no program has undefined behaviour.
#pragma once

#include <onto/core/error.hpp>
#include <onto/expr/constant.hpp>
#include <onto/expr/shape_check.hpp>
#include <onto/ops/operation_base.hpp>

#include <onto/ops/arithmetic.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/indexing_gradients.hpp>
#include <onto/ops/like.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/view.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

namespace onto::detail {
/// As other_headers.hpp asks.
struct indexing_header {};
}  // namespace onto::detail

namespace onto {

struct right_side_t {
  explicit right_side_t() = default;
};

/// After equal elements, not before: `searchsorted(sorted, x, right_side)`.
inline constexpr right_side_t right_side{};

namespace op {

/// Numbers and what they are of. Attribute: the axis.
template <int Axis>
struct take : detail::by_number<elements_and_text> {
  static constexpr std::string_view name = "GatherV2";
  static constexpr int attribute_count = 1;
  static constexpr std::int64_t attribute[attribute_count] = {Axis};
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) { return detail::taken(Axis, x[0], x[1]); }
  ONTO_END_RUNS_ONCE
  template <int>
  static constexpr auto derivative(auto g, auto, auto numbers, auto x) {
    return make<gather_gradient<take>>(numbers, x, g);
  }
};

template <int Axis>
struct take_along : detail::by_number<elements_and_text> {
  static constexpr std::string_view name = "TakeAlongAxis";
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) { return detail::taken_along(Axis, x[0], x[1]); }
  ONTO_END_RUNS_ONCE
  template <int>
  static constexpr auto derivative(auto g, auto, auto numbers, auto x) {
    return make<gather_gradient<take_along>>(numbers, x, g);
  }
};

/// Where the slice begins, and what it is of.
template <int... Sizes>
struct dynamic_slice : detail::by_number<elements_and_text> {
  static constexpr std::string_view name = "DynamicSlice";
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) {
    const extents box(shape<Sizes...>{});
    return {box, detail::placed(x[0], x[1], box)};
  }
  ONTO_END_RUNS_ONCE
  template <int>
  static constexpr auto derivative(auto g, auto, auto starts, auto x) {
    return make<update_slice>(starts, make<zeros_like>(x), g);
  }
};

/// Where the update begins, what is updated, the update.
struct update_slice : detail::by_number<elements_and_text> {
  static constexpr std::string_view name = "DynamicUpdateSlice";
  static constexpr bool only_assigned = true, never_throws = true;
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) { return {x[1], detail::placed(x[0], x[1], x[2])}; }
  ONTO_END_RUNS_ONCE
  template <int K>
  static constexpr auto derivative(auto g, auto, auto starts, auto, auto update) {
    if constexpr (K == 1)
      return make<update_slice>(starts, g, make<zeros_like>(update));
    else
      return make<slice_like>(starts, g, update);
  }
};

/// Numbers, what is updated, the updates: put in its place, or added to it.
template <bool Add>
struct scatter : detail::by_number<Add ? numeric_elements : all_elements> {
  static constexpr std::string_view name = Add ? "ScatterAdd" : "ScatterUpdate";
  static constexpr bool only_assigned = true;
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) { return {x[1], detail::scattered(x[0], x[1], x[2])}; }
  ONTO_END_RUNS_ONCE
  template <int K>
  static constexpr auto derivative(auto g, auto, auto numbers, auto, auto updates) {
    if constexpr (K == 2)
      return make<scatter_gradient<scatter>>(numbers, g);
    else if constexpr (Add)
      return g;
    else
      return make<scatter>(numbers, g, make<zeros_like>(updates));
  }
  static constexpr auto into_zeros(auto numbers, auto x, auto updates) {
    return make<scatter>(numbers, make<zeros_like>(x), updates);
  }
};

/// Numbers of segments, and the elements of each; or one for all, to count them.
template <int N>
struct segment_sum : detail::by_number<numeric_elements> {
  static constexpr std::string_view name = "SegmentSum";
  static constexpr element result(element, element x) { return summed_as(x); }
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) {
    if (x[1].rank == 0) return {extents(shape<N>{}), x[0].rank == 1 ? shape_fault::none : shape_fault::rank};
    inferred r{x[1], detail::scattered(x[0], x[1], x[1])};
    if (r.fault == shape_fault::none) r.shape[0] = N;
    return r;
  }
  ONTO_END_RUNS_ONCE
  template <int>
  static constexpr auto derivative(auto g, auto, auto numbers, auto) {
    return make<scatter_gradient<segment_sum>>(numbers, g);
  }
  static constexpr auto into_zeros(auto numbers, auto, auto x) { return make<segment_sum>(numbers, x); }
};

/// Numbers of segments, and the elements of each, of which the greatest or least stay.
template <int N, fold F>
struct segment_extreme : detail::by_number<numeric_elements> {
  static constexpr std::string_view name = F == fold::max ? "SegmentMax" : "SegmentMin";
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int count) { return segment_sum<N>::infer(x, count); }
  ONTO_END_RUNS_ONCE
  /// In equal parts where there are several.
  template <int>
  static constexpr auto derivative(auto g, auto y, auto numbers, auto x) {
    const auto is_extreme = make<equal>(x, of_rows(numbers, y));
    const auto ties = make<segment_sum<N>>(numbers, make<where>(is_extreme, make<ones_like>(x), 0));
    return make<where>(is_extreme, of_rows(numbers, g / ties), 0);
  }

 private:
  static constexpr auto of_rows(auto numbers, auto x) { return make<scatter_gradient<segment_sum<N>>>(numbers, x); }
};

/// What is sorted, and what is looked for in it.
template <bool Right>
struct searchsorted {
  static constexpr op_kind kind = op_kind::own_kernel;
  static constexpr std::string_view name = "SearchSorted";
  static constexpr int cost = 20;
  static constexpr kernel_set kernels{numeric_elements, numeric_elements};
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) {
    return {x[1], x[0].rank == 1 ? shape_fault::none : shape_fault::rank};
  }
  ONTO_END_RUNS_ONCE
  static constexpr detail::element_check check(element sorted, element x) {
    return detail::check_same(numeric_elements, sorted, x);
  }
  static constexpr element result(element, element) { return element::int64; }
};

template <int Axis>
struct extent : detail::keeps_element<all_elements> {
  static constexpr op_kind kind = op_kind::own_kernel;
  static constexpr std::string_view name = "Shape";
  static constexpr int cost = 0;
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) {
    return {extents{}, normalize_axis(Axis, x[0].rank) < 0 ? shape_fault::axis : shape_fault::none};
  }
  ONTO_END_RUNS_ONCE
  static constexpr element result(element) { return element::int64; }
};

}  // namespace op

namespace detail {

template <expression E>
constexpr auto flattened(const E& x) {
  if constexpr (E::facts.shape.rank == 1)
    return x;
  else
    return reshape<dyn>(x);
}

/// `N`, a number of segments.
template <int N>
constexpr int segments() {
  static_assert(N >= 0,
                "[onto.shape] the number of segments is known to the compiler: segment_sum<10>(x, i), bincount<10>(i); "
                "of a number known at run time scatter_add(zeros, i, x) with tensor<float, dyn> zeros({n})");
  return N;
}

/// The axes of numbers of elements as one, before the others.
template <class Numbers, class E, int... K>
constexpr auto join_first(const E& x, std::integer_sequence<int, K...>) {
  constexpr int count = Numbers::facts.shape.rank;
  if constexpr (count == 1)
    return x;
  else
    return make<op::reshape<dyn, same_as_axis(count + K)...>>(x);
}
template <class Numbers, class E>
constexpr auto join_first(const E& x) {
  constexpr int rest = E::facts.shape.rank - Numbers::facts.shape.rank;
  if constexpr (rest < 0)
    return
        typename unless_told<shape_mistake<shape_fault::rank, op::segment_sum<0>, shape_of_t<Numbers>, shape_of_t<E>>,
                             Numbers, E>::result{};
  else
    return join_first<Numbers>(x, std::make_integer_sequence<int, rest>{});
}

}  // namespace detail

/// The elements of those numbers along an axis: `take<0>(table, i)`. Without an axis, of all elements in row-major
/// order. *Mandates* integers as numbers, an axis the operand has, and an element to take. *Returns* (a..., i..., b...)
/// for an operand (a..., n, b...) and numbers (i...). A number outside takes the nearest element, as in JAX's `x[i]`.
template <int Axis, expression E, expression Index>
constexpr auto take(const E& x, const Index& numbers) {
  static_assert(E::facts.shape.rank + Index::facts.shape.rank <= max_rank + 1,
                "[onto.shape] a tensor has at most 8 dimensions; reshape to fewer");
  return make<op::take<detail::axis_in<Axis, E>>>(numbers, x);
}
template <class E, class Index, detail::only_if<(expression<E> && expression<Index>)> = 0>
constexpr auto take(const E& x, const Index& numbers) {
  return take<0>(detail::flattened(x), numbers);
}

/// `take` under TensorFlow's name; along the first axis unless another is named.
template <int Axis = 0, class E, class Index, detail::only_if<(expression<E> && expression<Index>)> = 0>
constexpr auto gather(const E& x, const Index& numbers) {
  return take<Axis>(x, numbers);
}

/// The rows of a table: `take<0>(table, numbers)`.
template <class E, class Index, detail::only_if<(expression<E> && expression<Index>)> = 0>
constexpr auto embedding(const E& table, const Index& numbers) {
  return take<0>(table, numbers);
}

/// For each number the element in its own row: `take_along_axis<1>(x, i)` is `x(r, i(r, c))` at (r, c). PyTorch's
/// `gather`. *Mandates* as many dimensions, whose extents broadcast but for the axis.
template <int Axis, expression E, expression Index>
constexpr auto take_along_axis(const E& x, const Index& numbers) {
  return make<op::take_along<detail::axis_in<Axis, E>>>(numbers, x);
}

namespace detail {
template <class E>
struct extents_of_a_part_are_constants : mistake {
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(ok == true,
                "[onto.shape] dynamic_slice: the run says where a part begins, and its extents are in the type, "
                "dynamic_slice<2, 4>(x, starts); as many rows as the run says are take<0>(x, numbers)");
};
}  // namespace detail

/// A part of these extents that begins at numbers known when the program runs: `dynamic_slice<2, 3>(x, starts)`, where
/// `starts` has a number an axis. A part that would reach beyond the end begins earlier, as in JAX.
/// *Mandates* an extent an axis, none greater than the operand's.
template <int... Sizes, expression E, expression Index>
constexpr auto dynamic_slice(const E& x, const Index& starts) {
  if constexpr (((Sizes < 0) || ...))
    return typename detail::extents_of_a_part_are_constants<E>::result{};
  else
    return make<op::dynamic_slice<Sizes...>>(starts, x);
}

/// `x` with `update` in it, which begins at numbers known when the program runs, as `dynamic_slice`: JAX's
/// `dynamic_update_slice`. *Mandates* an update of as many dimensions, none longer than the operand's.
template <class E, class U, class Index, detail::only_if<(expression<E> && expression<U> && expression<Index>)> = 0>
constexpr auto update_slice(const E& x, const U& update, const Index& starts) {
  return make<op::update_slice>(starts, x, update);
}

namespace detail {
/// What has the shape of updates: of a vector the numbers have it.
template <class E, class Index>
constexpr auto like_updates(const E& x, const Index& numbers) {
  if constexpr (E::facts.shape.rank == 1)
    return cast<typename E::element_type>(numbers);
  else
    return take<0>(x, numbers);
}
/// Updates of rows by number: one number, of a tensor of rank 0 too, is for all elements.
template <class E, class Index, class U>
constexpr auto updates_by(const E& x, const Index& numbers, const U& updates) {
  if constexpr (!expression<U>)
    return join_first<Index>(full_like(like_updates(x, numbers), updates));
  else if constexpr (U::facts.shape.rank == 0 && E::facts.shape.rank + Index::facts.shape.rank > 1)
    return join_first<Index>(make<op::stretch_like>(like_updates(x, numbers), updates));
  else
    return join_first<Index>(updates);
}
template <class U>
concept updates = expression<U> || number_argument<U>;
}  // namespace detail

/// `x` with rows of those numbers replaced: `x(numbers(k), ...)` by `updates(k, ...)`, the last one where several have
/// one number. *Mandates* integers as numbers, and updates (i..., b...) for numbers (i...) and an operand (n, b...), or
/// one number of the type of `x`: `scatter(x, i, 0)`.
template <class E, class Index, class U,
          detail::only_if<(expression<E> && expression<Index> && detail::updates<U>)> = 0>
constexpr auto scatter(const E& x, const Index& numbers, const U& updates) {
  return make<op::scatter<false>>(detail::flattened(numbers), x, detail::updates_by(x, numbers, updates));
}

/// `x` with updates added to its rows, all of them where several have one number; each sum is kept as `sum` keeps it.
template <class E, class Index, class U,
          detail::only_if<(expression<E> && expression<Index> && detail::updates<U>)> = 0>
constexpr auto scatter_add(const E& x, const Index& numbers, const U& updates) {
  return make<op::scatter<true>>(detail::flattened(numbers), x, detail::updates_by(x, numbers, updates));
}

/// The sums of the rows of `x` that have one number: `segment_sum<10>(x, numbers)` has 10. Numbers outside, below 0
/// too, are left out. *Returns* (N, b...) of the type of `sum`, for rows (i..., b...) and numbers (i...).
template <int N, expression E, expression Index>
constexpr auto segment_sum(const E& x, const Index& numbers) {
  return make<op::segment_sum<detail::segments<N>()>>(detail::flattened(numbers), detail::join_first<Index>(x));
}

/// The greatest elements of the rows of `x` that have one number, and the least: `segment_max<10>(x, numbers)`. Numbers
/// outside are left out. *Returns* (N, b...) for rows (i..., b...) and numbers (i...). A segment without rows has the
/// least element that there is, and the greatest: infinities of floating-point types.
template <int N, expression E, expression Index>
constexpr auto segment_max(const E& x, const Index& numbers) {
  return make<op::segment_extreme<detail::segments<N>(), fold::max>>(detail::flattened(numbers),
                                                                     detail::join_first<Index>(x));
}
template <int N, expression E, expression Index>
constexpr auto segment_min(const E& x, const Index& numbers) {
  return make<op::segment_extreme<detail::segments<N>(), fold::min>>(detail::flattened(numbers),
                                                                     detail::join_first<Index>(x));
}

/// How often each number of 0 to `N - 1` is there, as int64; others are left out.
template <int N, expression Index>
constexpr auto bincount(const Index& numbers) {
  return make<op::segment_sum<detail::segments<N>()>>(detail::flattened(numbers), fill<std::int64_t>(c<1>));
}

/// The same of weights, an element for each number: their sums.
template <int N, expression Index, expression W>
constexpr auto bincount(const Index& numbers, const W& weights) {
  return segment_sum<N>(weights, numbers);
}

/// How many places of a sorted vector an element goes behind to keep it sorted: before equals, or after them with
/// `right_side`. NaN is the greatest. *Mandates* a vector, and elements of one type.
template <class S, class E, detail::only_if<(expression<S> && expression<E>)> = 0>
constexpr auto searchsorted(const S& sorted, const E& x) {
  return make<op::searchsorted<false>>(sorted, x);
}
template <class S, class E, detail::only_if<(expression<S> && expression<E>)> = 0>
constexpr auto searchsorted(const S& sorted, const E& x, right_side_t) {
  return make<op::searchsorted<true>>(sorted, x);
}

/// The extent of an axis as a value, int64: a constant where it is in the type, so that `x` need not run.
template <int Axis, class E, detail::only_if<expression<E>> = 0>
constexpr auto extent(const E& x) {
  constexpr int axis = normalize_axis(Axis, E::facts.shape.rank);
  if constexpr (axis >= 0 && E::facts.shape[axis < 0 ? 0 : axis] != dyn) {
    return fill<std::int64_t>(c<E::facts.shape[axis]>);
  } else {
    return make<op::extent<detail::axis_in<Axis, E>>>(x);
  }
}

}  // namespace onto
