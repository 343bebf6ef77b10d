// SPDX-License-Identifier: BSL-1.0
// Elements in another place, more than once or in another order: what NumPy says with broadcast_to, flip, repeat, tile,
// roll, stack and split. Made of views, which kernels read through, and of `concat` where parts come together.
#pragma once

#include <onto/expr/shape_check.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/concat.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/view.hpp>

#include <tuple>
#include <utility>

namespace onto {

namespace detail {

ONTO_BEGIN_RUNS_ONCE
/// The shape of an operand that is stretched to `dims`, of which `dyn` is the operand's own extent.
constexpr inferred stretched(const int* dims, int count, const extents& x) {
  if (count < x.rank) return {x, shape_fault::broadcast};
  inferred r;
  for (int k = 0; k < count; ++k) {
    const int own = k - (count - x.rank), e = own < 0 ? 1 : x[own];
    if (dims[k] != dyn && e != dyn && e != 1 && e != dims[k]) r.fault = shape_fault::broadcast;
    r.shape.push_back(dims[k] == dyn ? e : dims[k]);
  }
  return r;
}
ONTO_END_RUNS_ONCE

}  // namespace detail

namespace op {

/// Attributes: `view_kind::broadcast`, the rank, and for each axis its extent, or `dyn`: the operand's.
template <int... Dims>
struct broadcast_to : view {
  static_assert(sizeof...(Dims) <= max_rank, "[onto.shape] a tensor has at most 8 dimensions; broadcast to fewer");
  static constexpr std::string_view name = "BroadcastTo";
  static constexpr int attribute_count = 2 + static_cast<int>(sizeof...(Dims));
  static constexpr std::int64_t attribute[attribute_count] = {static_cast<std::int64_t>(view_kind::broadcast),
                                                              sizeof...(Dims), Dims...};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    constexpr int dims[sizeof...(Dims) + 1] = {Dims...};
    return detail::stretched(dims, static_cast<int>(sizeof...(Dims)), operands[0]);
  }
  ONTO_END_RUNS_ONCE
};

/// Attributes: `view_kind::roll`, 1, the axis, and how much further along it elements are than the operand's.
template <int Shift, int Axis>
struct roll : view {
  static constexpr std::string_view name = "Roll";
  static constexpr int attribute_count = 4;
  static constexpr std::int64_t attribute[attribute_count] = {static_cast<std::int64_t>(view_kind::roll), 1, Axis,
                                                              Shift};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    return {operands[0], normalize_axis(Axis, operands[0].rank) < 0 ? shape_fault::axis : shape_fault::none};
  }
  ONTO_END_RUNS_ONCE
};

}  // namespace op

namespace detail {

template <class Op, class Shape>
struct parts_are_not_equal : mistake {
  static constexpr bool ok = sizeof(Op) > 99;
  static_assert(ok == true, "[onto.shape] split: the parts are not of equal extents; slice takes parts of any");
};
template <class Op, class Shape>
struct flattening_needs_extents : mistake {
  static constexpr bool ok = sizeof(Op) > 99;
  static_assert(ok == true, "[onto.shape] roll: without an axis the extents are in the type; or name the axis");
};

/// An axis the operand has, or not.
template <int Axis, class E>
inline constexpr bool has_axis = normalize_axis(Axis, E::facts.shape.rank) >= 0;

/// What a range is of each axis.
template <bool Backwards>
struct whole_or_flipped {
  using type = range<>;
};
template <>
struct whole_or_flipped<true> {
  using type = range<to_end, to_begin, -1>;
};

template <unsigned Set, class E, int... K>
constexpr auto flip_axes(const E& x, std::integer_sequence<int, K...>) {
  return make<op::slice<typename whole_or_flipped<(Set >> K & 1u) != 0>::type...>>(x);
}

/// `range` along one axis and everything along those before it.
template <class Range, int Axis, class E, int... K>
constexpr auto slice_axis(const E& x, std::integer_sequence<int, K...>) {
  return make<op::slice<std::conditional_t<K == Axis, Range, range<>>...>>(x);
}
template <int Axis, class Range, class E>
constexpr auto slice_axis(const E& x) {
  return slice_axis<Range, Axis>(x, std::make_integer_sequence<int, Axis + 1>{});
}
/// Element `K` along an axis, from the end below 0, as a view without the axis.
template <int Axis, int K, class E>
constexpr auto element_along(const E& x) {
  return squeeze<Axis>(slice_axis<Axis, range<K, K == -1 ? to_end : K + 1>>(x));
}

/// The operand's extent of `axis` times `Factor`, to be computed where it is not known.
constexpr int multiplied_extent(const extents& x, int axis, int factor) {
  if (factor == 0) return 0;
  const std::int64_t e = x[axis] == dyn ? 0 : times(x[axis], factor);
  return x[axis] == dyn || e > to_end ? dyn : static_cast<int>(e);
}

/// (..., n, N, ...), of which n is axis `Axis`, as (..., n N, ...).
template <int Axis, int N, class Of, class E, int... K>
constexpr auto join_axis(const E& x, std::integer_sequence<int, K...>) {
  constexpr int joined = multiplied_extent(Of::facts.shape, Axis, N);
  return make<op::reshape<(K == Axis ? joined : same_as_axis(K < Axis ? K : K + 1))...>>(x);
}
/// Extent `N` where there is the 1 that is axis `Axis`.
template <int Axis, int N, class E, int... K>
constexpr auto stretch_axis(const E& x, std::integer_sequence<int, K...>) {
  return make<op::broadcast_to<(K == Axis ? N : dyn)...>>(x);
}

/// How a tensor is tiled, by three views: an axis of 1 before each that is there several times, those stretched, then
/// each joined to its own.
struct tiling {
  int rank = 0;   // of the first two
  int apart = 0;  // extents to be computed, and those of 0, beside which nothing is
  int cut[2 * max_rank] = {}, stretched[2 * max_rank] = {}, joined[max_rank] = {};
};
template <class Shape, int... Times>
struct tiling_of {
  static constexpr tiling make() {
    constexpr extents x(Shape{});
    constexpr int count = sizeof...(Times), times[] = {Times...};
    tiling t;
    for (int k = 0; k < x.rank; ++k) {
      const int last = k - (x.rank - count), n = last < 0 ? 1 : times[last];
      if (n != 1) {
        t.cut[t.rank] = 1;
        t.stretched[t.rank++] = n;
      }
      t.apart += n != 1 && multiplied_extent(x, k, n) <= 0 ? 1 : 0;
      t.joined[k] = n == 1 ? same_as_axis(t.rank) : multiplied_extent(x, k, n);
      t.cut[t.rank] = same_as_axis(k);
      t.stretched[t.rank++] = dyn;
    }
    return t;
  }
  static constexpr tiling value = make();
};

template <class Tiling, class E, int... K, int... J>
constexpr auto tile_axes(const E& x, std::integer_sequence<int, K...>, std::integer_sequence<int, J...>) {
  constexpr tiling t = Tiling::value;
  const auto stretched = make<op::broadcast_to<t.stretched[J]...>>(make<op::reshape<t.cut[J]...>>(x));
  return make<op::reshape<t.joined[K]...>>(stretched);
}

/// Part `K` of `N` along an axis.
template <int N, int Axis, int K, class E>
constexpr auto part_of(const E& x) {
  constexpr int rank = E::facts.shape.rank, extent = E::facts.shape[Axis];
  if constexpr (extent != dyn) {
    return slice_axis<Axis, range<K*(extent / N), (K + 1) * (extent / N)>>(x);
  } else {  // (..., N, n / N, ...), of which one
    const auto cut = [&]<int... J>(std::integer_sequence<int, J...>) {
      return make<op::reshape<(J == Axis ? N : J == Axis + 1 ? dyn : same_as_axis(J < Axis ? J : J - 1))...>>(x);
    }
    (std::make_integer_sequence<int, rank + 1>{});
    return element_along<Axis, K>(cut);
  }
}

template <int N, int Axis, class E, int... K>
constexpr auto parts_of(const E& x, std::integer_sequence<int, K...>) {
  return std::tuple{part_of<N, Axis, K>(x)...};
}
/// What stands for the parts where there is a mistake.
template <class E, int... K>
constexpr auto copies_of(const E& x, std::integer_sequence<int, K...>) {
  return std::tuple{(static_cast<void>(K), x)...};
}

}  // namespace detail

/// The operand stretched as an operation beside a tensor of this shape would stretch it: `broadcast_to<2, dyn>(x)`;
/// `dyn` is the operand's own extent. *Mandates* extents that are the operand's, counted from the last axis, or take
/// the place of 1. Nothing is copied where a kernel can read through it.
template <int... Dims, class E, detail::only_if<expression<E>> = 0>
constexpr auto broadcast_to(const E& x) {
  return make<op::broadcast_to<Dims...>>(x);
}

template <int... Times, expression E>
  requires(sizeof...(Times) > 0)
constexpr auto tile(const E& x);

namespace detail {
/// The last axis that is tiled, and then those before it.
template <int... Times, class E, std::size_t... K>
constexpr auto tile_last(const E& x, std::index_sequence<K...>) {
  constexpr int times[] = {Times...};
  constexpr std::size_t last = [] {
    std::size_t k = sizeof...(Times) - 1;
    while (times[k] == 1) --k;
    return k;
  }();
  return tile<(K == last ? 1 : Times)...>(tile<(K == last ? Times : 1)...>(x));
}
}  // namespace detail

/// The elements in reverse order along the named axes, or all: `flip(x)`, `flip<0>(x)`. *Mandates* axes the operand
/// has.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto flip(const E& x) {
  constexpr int rank = E::facts.shape.rank;
  if constexpr (!(detail::has_axis<Axes, E> && ...)) {
    return typename detail::no_axis_of<op::slice<>, E>::result{};
  } else if constexpr (rank == 0) {
    return x;
  } else {
    constexpr unsigned all = (1u << rank) - 1;
    constexpr unsigned set = sizeof...(Axes) == 0 ? all : ((1u << normalize_axis(Axes, rank)) | ... | 0u);
    return detail::flip_axes<set>(x, std::make_integer_sequence<int, rank>{});
  }
}

/// Each element `N` times along an axis: `repeat<2, 0>(x)`. Without an axis, of all elements in row-major order.
/// *Mandates* `N` of 0 or more, and an axis the operand has.
template <int N, int Axis, class E, detail::only_if<expression<E>> = 0>
constexpr auto repeat(const E& x) {
  static_assert(N >= 0, "[onto.shape] repeat: elements are there 0 times or more");
  if constexpr (!detail::has_axis<Axis, E>) {
    return typename detail::no_axis_of<op::concat<Axis>, E>::result{};
  } else {
    constexpr int rank = E::facts.shape.rank, axis = normalize_axis(Axis, rank);
    const auto apart =
        detail::stretch_axis<axis + 1, N>(expand_dims<axis + 1>(x), std::make_integer_sequence<int, rank + 1>{});
    return detail::join_axis<axis, N, E>(apart, std::make_integer_sequence<int, rank>{});
  }
}
template <int N, class E, detail::only_if<expression<E>> = 0>
constexpr auto repeat(const E& x) {
  return repeat<N, 0>(reshape<dyn>(x));
}

/// The operand several times after itself along its last axes: `tile<2, 3>(x)` twice along the last but one and three
/// times along the last. The axes before them stay, and axes the operand lacks are put in.
/// *Mandates* numbers of 0 or more; in all no more than 8 axes and numbers other than 1.
template <int... Times, expression E>
  requires(sizeof...(Times) > 0)
constexpr auto tile(const E& x) {
  static_assert(((Times >= 0) && ...), "[onto.shape] tile: an operand is there 0 times or more");
  if constexpr (detail::any_ill_formed<E>) {
    return ill_formed{};
  } else if constexpr (static_cast<int>(sizeof...(Times)) > E::facts.shape.rank) {
    return tile<Times...>(expand_dims<0>(x));
  } else if constexpr (((Times == 1) && ...)) {
    return x;
  } else {
    using tiling = detail::tiling_of<detail::shape_of_t<E>, Times...>;
    static_assert(tiling::value.rank <= max_rank,
                  "[onto.shape] tile: more than 8 axes and numbers other than 1; tile one axis after the other");
    if constexpr (tiling::value.apart > 1)  // one after the other: a reshape computes one extent
      return detail::tile_last<Times...>(x, std::make_index_sequence<sizeof...(Times)>{});
    else
      return detail::tile_axes<tiling>(x, std::make_integer_sequence<int, E::facts.shape.rank>{},
                                       std::make_integer_sequence<int, tiling::value.rank>{});
  }
}

/// The elements `Shift` places further along an axis, those that fall out at the end put in at its beginning:
/// `roll<1, 0>(x)`; backwards where `Shift` is negative. Without an axis, of all elements in row-major order.
/// *Mandates* an axis the operand has. Maps read through it: a stencil with its edges joined is one kernel.
template <int Shift, int Axis, class E, detail::only_if<expression<E>> = 0>
constexpr auto roll(const E& x) {
  if constexpr (!detail::has_axis<Axis, E>) {
    return typename detail::no_axis_of<op::roll<Shift, Axis>, E>::result{};
  } else {
    constexpr int axis = normalize_axis(Axis, E::facts.shape.rank), extent = E::facts.shape[axis];
    constexpr int within = extent == dyn || extent == 0 ? Shift : Shift % extent;
    constexpr int shift = within < 0 && extent != dyn ? within + extent : within;
    if constexpr (shift == 0 || extent == 0)
      return x;
    else
      return make<op::roll<shift, axis>>(x);
  }
}
template <int Shift, class E, detail::only_if<expression<E>> = 0>
constexpr auto roll(const E& x) {
  constexpr extents e = E::facts.shape;
  if constexpr (e.rank == 1) {
    return roll<Shift, 0>(x);
  } else if constexpr (!e.is_static()) {
    return typename detail::flattening_needs_extents<op::reshape<>, detail::shape_of_t<E>>::result{};
  } else {
    return [&]<int... D>(shape<D...>) { return reshape<D...>(roll<Shift, 0>(reshape<dyn>(x))); }
    (detail::shape_of_t<E>{});
  }
}

namespace detail {
/// `x`, or a number as a tensor of rank 0 of the elements beside it.
template <class Beside, class X>
constexpr auto value_beside(const X& x) {
  if constexpr (expression<X> || any_ill_formed<Beside>)
    return lift<Beside>(x);
  else
    return make<op::add>(make<op::zeros<typename Beside::element_type>>(), x);
}
}  // namespace detail

/// Tensors of one shape side by side along a new axis: `stack(x, y)`, `stack<-1>(x, y)`.
/// *Mandates* 1 to 64 operands of one element type and shape, and an axis from -rank - 1 to rank.
template <int Axis = 0, expression First, expression... More>
constexpr auto stack(const First& first, const More&... more) {
  constexpr int axis = normalize_axis(Axis, First::facts.shape.rank + 1);
  if constexpr (axis < 0) {
    return typename detail::no_axis_of<op::concat<Axis>, First>::result{};
  } else if constexpr (((More::facts.shape.rank != First::facts.shape.rank) || ...)) {
    using differ = detail::shape_mistake<shape_fault::concat, op::concat<axis>, detail::shape_of_t<First>,
                                         detail::shape_of_t<More>...>;
    return typename detail::unless_told<differ, First, More...>::result{};
  } else {
    return concat<axis>(expand_dims<axis>(first), expand_dims<axis>(more)...);
  }
}

/// The same with numbers beside expressions of rank 0: `stack(0, k, 0)`, where a slice begins.
template <class... X>
  requires((detail::operand<X> && ...) && !(expression<X> && ...) && (expression<X> || ...) &&
           detail::first_expression<X...>::type::facts.shape.rank == 0)
constexpr auto stack(const X&... x) {
  return stack(detail::value_beside<typename detail::first_expression<X...>::type>(x)...);
}

/// The operand cut into `N` parts of equal extents along an axis, the first unless another is named:
/// `auto [q, k, v] = split<3, -1>(x)`. *Mandates* an axis the operand has, and an extent that is a multiple of `N`, as
/// far as it is known. *Returns* a `std::tuple`.
template <int N, int Axis = 0, class E, detail::only_if<expression<E>> = 0>
constexpr auto split(const E& x) {
  static_assert(N > 0, "[onto.shape] split: into one part or more");
  constexpr auto parts = std::make_integer_sequence<int, N>{};
  if constexpr (!detail::has_axis<Axis, E>) {
    return detail::copies_of(typename detail::no_axis_of<op::concat<Axis>, E>::result{}, parts);
  } else {
    constexpr int axis = normalize_axis(Axis, E::facts.shape.rank), extent = E::facts.shape[axis];
    if constexpr (extent != dyn && extent % N != 0) {
      return detail::copies_of(typename detail::parts_are_not_equal<op::slice<>, detail::shape_of_t<E>>::result{},
                               parts);
    } else {
      return detail::parts_of<N, axis>(x, parts);
    }
  }
}

}  // namespace onto
