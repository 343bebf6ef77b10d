// SPDX-License-Identifier: BSL-1.0
// Order along an axis: elements sorted, their numbers in that order, the greatest k, distinct values and how often each
// is there. Programs say them with <onto/sort.hpp>, which brings the kernels too. NaN is the greatest and comes last;
// equal elements keep their order.
#pragma once

#include <onto/expr/data.hpp>
#include <onto/ops/operation_base.hpp>

#include <onto/ops/concat.hpp>
#include <onto/ops/indexing.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/scan.hpp>

#include <tuple>

namespace onto::detail {
/// As other_headers.hpp asks.
struct sort_header {};
}  // namespace onto::detail

namespace onto {

struct descending_t {
  explicit descending_t() = default;
};

/// The greatest first: `sort(x, descending)`.
inline constexpr descending_t descending{};

namespace op {

template <int Axis, bool Descending, int Count = dyn>
struct argsort;

template <int Axis, bool Descending>
struct sort : detail::keeps_element<all_elements> {
  static constexpr op_kind kind = op_kind::own_kernel;
  static constexpr std::string_view name = "Sort";
  static constexpr int cost = 20;
  static constexpr int attribute_count = 2;
  static constexpr std::int64_t attribute[attribute_count] = {Axis, Descending};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) {
    return {x[0], normalize_axis(Axis, x[0].rank) < 0 ? shape_fault::axis : shape_fault::none};
  }
  ONTO_END_RUNS_ONCE
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return make<gather_gradient<take_along<Axis>>>(make<argsort<Axis, Descending>>(x), x, g);
  }
};

/// Numbers of elements, from 0 to the axis' extent; the first `Count` of them, or all where it is `dyn`.
template <int Axis, bool Descending, int Count>
struct argsort : detail::keeps_element<all_elements> {
  static constexpr op_kind kind = op_kind::own_kernel;
  static constexpr std::string_view name = Count == dyn ? "ArgSort" : "TopK";
  static constexpr int cost = 20;
  static constexpr int attribute_count = 3;
  static constexpr std::int64_t attribute[attribute_count] = {Axis, Descending, Count};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) {
    inferred r{x[0]};
    const int axis = normalize_axis(Axis, x[0].rank);
    if (axis < 0) return {x[0], shape_fault::axis};
    if constexpr (Count != dyn) {
      if (x[0][axis] != dyn && x[0][axis] < Count) r.fault = shape_fault::few;
      r.shape[axis] = Count;
    }
    return r;
  }
  ONTO_END_RUNS_ONCE
  static constexpr element result(element) { return element::int64; }
};

}  // namespace op

namespace detail {

/// The axis of an operand of `rank` dimensions along which it is sorted.
constexpr int sort_axis(const op_info& op, int rank) { return normalize_axis(static_cast<int>(op.attribute[0]), rank); }

}  // namespace detail

/// The elements in ascending order along one axis: the last unless another is named. NaN comes last, -0 may stand
/// before 0. *Returns* a tensor of the operand's shape and type. *Mandates* an axis the operand has; negative axes
/// count from the end. *Complexity* n for short elements and long rows on the CPU and on GPUs, else n log n, for rows
/// of n.
template <int Axis = -1, class E, detail::only_if<expression<E>> = 0>
constexpr auto sort(const E& x) {
  return make<op::sort<detail::axis_in<Axis, E>, false>>(x);
}
/// In descending order: NaN comes first.
template <int Axis = -1, expression E>
constexpr auto sort(const E& x, descending_t) {
  return make<op::sort<detail::axis_in<Axis, E>, true>>(x);
}

/// The numbers of the elements in ascending order, as int64: `take_along_axis<-1>(x, argsort(x))` is sorted. Those of
/// equal elements keep their order, those of NaN come last; axes are those of `sort`.
template <int Axis = -1, class E, detail::only_if<expression<E>> = 0>
constexpr auto argsort(const E& x) {
  return make<op::argsort<detail::axis_in<Axis, E>, false>>(x);
}
/// In descending order; those of equal elements keep their order too.
template <int Axis = -1, expression E>
constexpr auto argsort(const E& x, descending_t) {
  return make<op::argsort<detail::axis_in<Axis, E>, true>>(x);
}

template <class Values, class Indices>
struct top_k_result {
  Values values;
  Indices indices;

  constexpr std::tuple<Values, Indices> each() const { return {values, indices}; }
};

/// The `K` greatest elements along an axis, the greatest first, and their numbers as int64: `const auto [values,
/// indices] = top_k<3>(x)`. NaN is the greatest; of equal elements the first come first. *Mandates* an axis with `K`
/// elements at least. *Complexity* n + K log K, for rows of n; on GPUs that of `sort` for more than 256 elements of
/// long rows, or of 8 bytes.
template <int K, int Axis = -1, class E, detail::only_if<expression<E>> = 0>
constexpr auto top_k(const E& x) {
  static_assert(K >= 0, "[onto.shape] top_k: a number of elements is not below 0; top_k<3>(x) gives three");
  const auto indices = make<op::argsort<detail::axis_in<Axis, E>, true, K>>(x);
  if constexpr (detail::any_ill_formed<std::remove_cv_t<decltype(indices)>>) {
    return top_k_result<ill_formed, ill_formed>{};
  } else {
    const auto values = take_along_axis<Axis>(x, indices);
    return top_k_result<std::remove_cv_t<decltype(values)>, std::remove_cv_t<decltype(indices)>>{values, indices};
  }
}

template <class Values, class Counts, class Found>
struct unique_result {
  Values values;
  Counts counts;
  Found found;

  constexpr std::tuple<Values, Counts, Found> each() const { return {values, counts, found}; }
};

/// The first `Capacity` distinct values in ascending order, how often each is there, and how many distinct values there
/// are in all, which may be more: `const auto [values, counts, found] = unique<10>(x)`. All axes are one; all NaN are
/// one value. Where there are fewer, the least fills what is left, and its counts are 0, as `jnp.unique(size=10,
/// return_counts=True)` has them. Counts and their number are int64. Of no
/// elements all are 0. *Complexity* that of `sort`.
template <int Capacity, class E, detail::only_if<expression<E>> = 0>
constexpr auto unique(const E& x) {
  static_assert(Capacity > 0, "[onto.shape] unique: there is no room for a value; unique<10>(x) has room for ten");
  using integer = std::int64_t;
  constexpr int room = Capacity > 0 ? Capacity : 1;
  const auto sorted = sort(detail::flattened(x));
  const auto before = slice<0, -1>(sorted);
  const auto after = slice<1, to_end>(sorted);
  const auto begins = [&] {
    if constexpr (is_floating(E::facts.type))
      return cast<integer>(before != after && before == before);  // after NaN comes NaN
    else
      return cast<integer>(before != after);
  }();
  // Where values begin is searched for in how many have begun before.
  const auto number = iota<integer, room + 1>();
  constexpr int size = sorted.facts.shape[0];
  const auto any = [&] {  // 0 where there is nothing, 1 else
    if constexpr (size != dyn)
      return c<(size > 0 ? 1 : 0)>;
    else
      return minimum(extent<0>(sorted), c<1>);
  }();
  const auto first = where(number == c<0>, c<0>, searchsorted(cumsum(begins), number) + any);
  const auto start = slice<0, room>(first);
  const auto found = sum(begins) + any;
  const auto never_none = [&] {  // a 0 after them, which is taken where there is nothing
    if constexpr (size > 0 || detail::any_ill_formed<std::remove_const_t<decltype(sorted)>>)
      return sorted;
    else
      return concat<0>(sorted, zeros<typename E::element_type, 1>());
  }();
  const auto values = where(slice<0, room>(number) < found, take<0>(never_none, start), slice<0, 1>(never_none));
  const auto counts = slice<1, to_end>(first) - start;
  return unique_result<std::remove_cv_t<decltype(values)>, std::remove_cv_t<decltype(counts)>,
                       std::remove_cv_t<decltype(found)>>{values, counts, found};
}

namespace detail {
template <class Values, class Indices>
struct data_traits<top_k_result<Values, Indices>> : several_results<Values> {};
template <class Values, class Counts, class Found>
struct data_traits<unique_result<Values, Counts, Found>> : several_results<Values> {};
}  // namespace detail

/// Not there: several results have values when one of them is run.
template <class Stream, detail::makes_several X>
Stream& operator<<(Stream& out, const X&) {
  static_cast<void>(static_cast<typename detail::several_are_no_operand<X>::result*>(nullptr));
  return out;
}

}  // namespace onto
