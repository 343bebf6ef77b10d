// SPDX-License-Identifier: BSL-1.0
// Scatters by sorted numbers: which of an operation's numbers bring something to an element of its result, those of the
// element's group. Whoever has the numbers in the order of their groups goes through those alone, not through all.
#pragma once

#include <onto/kernel/indexing.hpp>

#include <cstdint>

namespace onto::detail {

/// An operation's numbers in the order of their groups, those of a group in their own order.
struct sorted_numbers {
  const std::uint32_t* number;
  const std::uint32_t* start;  // of each group, and the end of the last
};

/// The group of an element of a result, and how far from the first update of one of its numbers the element's lies.
struct grouped_element {
  std::int64_t group;
  std::int64_t offset;
};

/// Of an operation over operands of type `T`: how many numbers and groups there are, the group of a number (-1: none),
/// the group of an element, where a number's updates begin, and how updates come together (`rule`, as in scatters).
template <class Op, class T>
struct number_groups;

/// The number of a row is its group.
template <class Op, class T>
struct groups_of_rows {
  using rule = scatter_rule<Op, T>;

  ONTO_HD static std::int64_t count(const indexed_call& c) { return c.in[0].shape.dims[0]; }
  ONTO_HD static std::int64_t groups(const indexed_call& c) { return c.extent[0].divisor; }
  template <class Access>
  ONTO_HD static std::int64_t group(const indexed_call& c, std::int64_t number) {
    return row_of<Access>(c.in[0], number, groups(c), rule::wraps);
  }
  ONTO_HD static const indexed_operand& updates(const indexed_call& c) { return c.in[rule::updates]; }
  ONTO_HD static grouped_element element(const indexed_call& c, std::int64_t k) {
    const indexed_place p = place_of(c, k);
    return {p.at[0], offset_in_row(updates(c), p, c.rank)};
  }
  ONTO_HD static std::int64_t offset(const indexed_call& c, std::int64_t number) {
    return number * updates(c).stride[0];
  }
  template <class Access>
  ONTO_HD static typename rule::state first(const indexed_call& c, std::int64_t k) {
    return first_of_scatter<Op, T, Access>(c, place_of(c, k));
  }
};
template <bool Add, class T>
struct number_groups<op::scatter<Add>, T> : groups_of_rows<op::scatter<Add>, T> {};
template <int N, class T>
struct number_groups<op::segment_sum<N>, T> : groups_of_rows<op::segment_sum<N>, T> {};

/// How far from the first element of some neighbouring axes the element `k` of them in row-major order lies.
ONTO_HD ONTO_INLINE std::int64_t offset_in_axes(const indexed_operand& o, int first, int end, std::int64_t k) {
  if (end - first == 1) return k * o.stride[first];
  std::int64_t offset = 0;
  for (int d = end - 1; d >= first; --d) {
    const std::int64_t n = o.shape.dims[d];
    offset += k % n * o.stride[d];
    k /= n;
  }
  return offset;
}

/// What gradients of reads share: sums that begin with nothing.
template <class T>
struct groups_of_reads {
  using rule = scatter_sum<T, T>;
  ONTO_HD static const indexed_operand& updates(const indexed_call& c) { return c.in[2]; }
  template <class Access>
  ONTO_HD static typename rule::state first(const indexed_call&, std::int64_t) {
    return rule::none();
  }
};
/// A number's group is the place along the axis that it took.
template <int Axis, class T>
struct number_groups<op::gather_gradient<op::take<Axis>>, T> : groups_of_reads<T> {
  using groups_of_reads<T>::updates;

  ONTO_HD static std::int64_t count(const indexed_call& c) { return c.in[0].shape.size(); }
  ONTO_HD static std::int64_t groups(const indexed_call& c) { return c.extent[Axis].divisor; }
  template <class Access>
  ONTO_HD static std::int64_t group(const indexed_call& c, std::int64_t number) {
    return nearest(number_at<Access>(c.in[0], offset_in_axes(c.in[0], 0, c.in[0].shape.rank, number)), groups(c));
  }
  ONTO_HD static grouped_element element(const indexed_call& c, std::int64_t k) {
    const indexed_place p = place_of(c, k);
    grouped_element e{p.at[Axis], 0};
    for (int d = 0; d < c.rank; ++d)
      if (d != Axis) e.offset += p.at[d] * updates(c).stride[d < Axis ? d : d + c.in[0].shape.rank - 1];
    return e;
  }
  ONTO_HD static std::int64_t offset(const indexed_call& c, std::int64_t number) {
    return offset_in_axes(updates(c), Axis, Axis + c.in[0].shape.rank, number);
  }
};
/// Every element that was taken has a number of its own; its group is the element that it was taken from.
template <int Axis, class T>
struct number_groups<op::gather_gradient<op::take_along<Axis>>, T> : groups_of_reads<T> {
  using groups_of_reads<T>::updates;

  ONTO_HD static std::int64_t count(const indexed_call& c) { return updates(c).shape.size(); }
  ONTO_HD static std::int64_t groups(const indexed_call& c) { return c.size; }
  template <class Access>
  ONTO_HD static std::int64_t group(const indexed_call& c, std::int64_t number) {
    indexed_call taken{{c.in[0], c.in[1]}, updates(c).shape.rank, {}, 0};
    for (int d = 0; d < taken.rank; ++d) taken.extent[d] = index_divisor(updates(c).shape.dims[d]);
    std::int64_t step = 1;
    for (int d = c.rank - 1; d >= 0; step *= c.extent[d--].divisor)
      taken.in[1].stride[d] = c.extent[d].divisor > 1 ? step : 0;
    return indexed_element<op::take_along<Axis>>::template offset<Access>(taken, number);
  }
  ONTO_HD static grouped_element element(const indexed_call&, std::int64_t k) { return {k, 0}; }
  ONTO_HD static std::int64_t offset(const indexed_call& c, std::int64_t number) {
    return offset_in_axes(updates(c), 0, updates(c).shape.rank, number);
  }
};

/// Only the last number of a row counts.
template <class T>
struct number_groups<op::scatter_gradient<op::scatter<false>>, T> {
  using rule = scatter_rule<op::scatter<false>, T>;

  ONTO_HD static std::int64_t count(const indexed_call& c) { return c.in[0].shape.dims[0]; }
  ONTO_HD static std::int64_t groups(const indexed_call& c) { return c.in[1].shape.dims[0]; }
  template <class Access>
  ONTO_HD static std::int64_t group(const indexed_call& c, std::int64_t number) {
    return row_of<Access>(c.in[0], number, groups(c), rule::wraps);
  }
};

/// An element of the result, which goes through the numbers of its group: `at<Access>(c, sorted, k)`.
template <class Op, class T>
struct element_of_group {
  template <class Access>
  ONTO_HD ONTO_INLINE static auto at(const indexed_call& c, const sorted_numbers& sorted, std::int64_t k) {
    using groups = number_groups<Op, T>;
    using rule = typename groups::rule;
    const grouped_element e = groups::element(c, k);
    const std::int64_t end = Access::load(sorted.start + e.group + 1);
    std::int64_t at = Access::load(sorted.start + e.group);
    if (rule::replaces && end > at) at = end - 1;
    auto s = groups::template first<Access>(c, k);
    for (; at < end; ++at) {
      const std::int64_t number = Access::load(sorted.number + at);
      rule::add(s, element_at<T, Access>(groups::updates(c), e.offset + groups::offset(c, number)));
    }
    return rule::finish(s);
  }
};
template <class T>
struct element_of_group<op::scatter_gradient<op::scatter<false>>, T> {
  template <class Access>
  ONTO_HD ONTO_INLINE static T at(const indexed_call& c, const sorted_numbers& sorted, std::int64_t k) {
    using groups = number_groups<op::scatter_gradient<op::scatter<false>>, T>;
    const indexed_operand& gradient = c.in[1];
    const indexed_place p = place_of(c, k);
    const std::int64_t row = groups::template group<Access>(c, p.at[0]);
    if (row < 0 || Access::load(sorted.number + Access::load(sorted.start + row + 1) - 1) != p.at[0]) return T(0);
    return element_at<T, Access>(gradient, row * gradient.stride[0] + offset_in_row(gradient, p, c.rank));
  }
};

}  // namespace onto::detail
