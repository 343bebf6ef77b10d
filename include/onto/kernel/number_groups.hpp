// SPDX-License-Identifier: BSL-1.0
// Scatters by groups: which of an operation's numbers bring something to an element of its result, those of the
// element's group. Numbers that are sorted into their groups are gone through by group; few are all looked at.
#pragma once

#include <onto/kernel/indexing.hpp>

#include <cstdint>
#include <limits>

namespace onto::detail {

/// How many elements an operand has: `extents::size` is not for devices.
ONTO_HD ONTO_INLINE std::int64_t elements_of(const indexed_operand& o) {
  std::int64_t n = 1;
  for (int d = 0; d < o.shape.rank; ++d) n *= o.shape.dims[d];
  return n;
}

/// An operation's numbers in the order of their groups, those of a group in their own order.
struct sorted_numbers {
  const std::uint32_t* number;
  const std::uint32_t* start;   // of each group, and the end of the last
  const std::uint32_t* groups;  // of each of the numbers; of one that is in none, how many groups there are

  /// Calls `f` with those of a group, in their order; with the last alone where it replaces the others.
  template <class Groups, class Access, class F>
  ONTO_HD ONTO_INLINE void of_group(const indexed_call&, std::int64_t group, const F& f) const {
    const std::int64_t end = Access::load(start + group + 1);
    std::int64_t at = Access::load(start + group);
    if (Groups::rule::replaces && end > at) at = end - 1;
    for (; at < end; ++at) f(std::int64_t{Access::load(number + at)});
  }
};

/// Numbers as they come.
struct unsorted_numbers {
  template <class Groups, class Access, class F>
  ONTO_HD ONTO_INLINE void of_group(const indexed_call& c, std::int64_t group, const F& f) const {
    for (std::int64_t number = 0; number < Groups::count(c); ++number)
      if (group_of<Groups, Access>(c, number) == group) f(number);
  }
};

/// How many groups an operation has, where its type says so.
template <class Op>
inline constexpr std::int64_t known_groups = -1;
template <int N>
inline constexpr std::int64_t known_groups<op::segment_sum<N>> = N;
template <int N, fold F>
inline constexpr std::int64_t known_groups<op::segment_extreme<N, F>> = N;

/// Of an operation over operands of type `T`: how many numbers and groups there are, the group of a number (-1: none)
/// or where it lies among the numbers (`place`) and what group its value says (`group_of`), the group of an element,
/// where a number's updates begin, and how updates come together (`rule`, as in scatters). Of sums, how many elements
/// of one group are side by side in the result (`inner`), and the first axis of the updates that such elements go
/// along.
template <class Op, class T>
struct number_groups;

/// The groups of some numbers, every `step`-th from `first` on, whose loads are under way together: -1 from `end` on.
template <class Groups, class Access, int Count>
ONTO_HD ONTO_INLINE void groups_of(const indexed_call& c, std::int64_t first, std::int64_t step, std::int64_t end,
                                   std::int64_t (&group)[Count]) {
  if constexpr (requires { Groups::place(c, first); }) {
    with_integer(c.in[0].type, [&](auto zero) {
      for (int k = 0; k < Count; ++k)
        if (first + k * step < end)
          group[k] = count_of(element_at<decltype(zero), Access>(c.in[0], Groups::place(c, first + k * step)));
    });
    for (int k = 0; k < Count; ++k) group[k] = first + k * step < end ? Groups::group_of(c, group[k]) : -1;
  } else {
    for (int k = 0; k < Count; ++k)
      group[k] = first + k * step < end ? Groups::template group<Access>(c, first + k * step) : -1;
  }
}
/// The group of a number.
template <class Groups, class Access>
ONTO_HD ONTO_INLINE std::int64_t group_of(const indexed_call& c, std::int64_t number) {
  std::int64_t group[1];
  groups_of<Groups, Access>(c, number, 1, number + 1, group);
  return group[0];
}

/// The number of a row is its group.
template <class Op, class T>
struct groups_of_rows {
  using rule = scatter_rule<Op, T>;

  ONTO_HD static std::int64_t count(const indexed_call& c) { return c.in[0].shape.dims[0]; }
  ONTO_HD static std::int64_t groups(const indexed_call& c) { return c.extent[0].divisor; }
  ONTO_HD static std::int64_t place(const indexed_call& c, std::int64_t number) { return number * c.in[0].stride[0]; }
  ONTO_HD static std::int64_t group_of(const indexed_call& c, std::int64_t value) {
    return row_of(value, groups(c), rule::wraps);
  }
  ONTO_HD static const indexed_operand& updates(const indexed_call& c) { return c.in[rule::updates]; }
  ONTO_HD static grouped_element element(const indexed_call& c, std::int64_t k) {
    return element_in_row(c, updates(c), k);
  }
  ONTO_HD static std::int64_t offset(const indexed_call& c, std::int64_t number) {
    return number * updates(c).stride[0];
  }
  static std::int64_t inner(const indexed_call& c) { return c.size / groups(c); }
  static int inner_axis(const indexed_call&) { return 1; }
  template <class Access>
  ONTO_HD static typename rule::state first([[maybe_unused]] const indexed_call& c, [[maybe_unused]] std::int64_t k) {
    if constexpr (rule::base < 0) {
      return rule::none();
    } else {
      const indexed_operand& x = c.in[rule::base];
      const grouped_element e = element_in_row(c, x, k);
      return rule::first(element_at<T, Access>(x, e.group * x.stride[0] + e.offset));
    }
  }
};
template <bool Add, class T>
struct number_groups<op::scatter<Add>, T> : groups_of_rows<op::scatter<Add>, T> {};
template <int N, class T>
struct number_groups<op::segment_sum<N>, T> : groups_of_rows<op::segment_sum<N>, T> {};
template <int N, fold F, class T>
struct number_groups<op::segment_extreme<N, F>, T> : groups_of_rows<op::segment_extreme<N, F>, T> {};

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

  /// Takes the axes of the numbers as one, where they can be: nothing is divided for each number.
  static void join_numbers(indexed_call& c) {
    indexed_operand &numbers = c.in[0], &gradient = c.in[2];
    const int count = numbers.shape.rank;
    const auto joined = [&](const indexed_operand& o, int first) {
      bool one = true;
      for (int d = first; d + 1 < first + count; ++d) one = one && o.stride[d] == o.stride[d + 1] * o.shape.dims[d + 1];
      return one;
    };
    const std::int64_t all = elements_of(numbers);
    if (count < 2 || all > std::numeric_limits<int>::max() || !joined(numbers, 0) || !joined(gradient, Axis)) return;
    const auto join = [&](indexed_operand& o, int first) {
      extents shape;
      for (int d = 0; d < first; ++d) shape.push_back(o.shape.dims[d]);
      shape.push_back(static_cast<int>(all));
      o.stride[first] = o.stride[first + count - 1];
      for (int d = first + count; d < o.shape.rank; ++d) {
        o.stride[shape.rank] = o.stride[d];
        shape.push_back(o.shape.dims[d]);
      }
      o.shape = shape;
    };
    join(gradient, Axis);
    join(numbers, 0);
  }
  ONTO_HD static std::int64_t count(const indexed_call& c) { return elements_of(c.in[0]); }
  ONTO_HD static std::int64_t groups(const indexed_call& c) { return c.extent[Axis].divisor; }
  ONTO_HD static std::int64_t place(const indexed_call& c, std::int64_t number) {
    return offset_in_axes(c.in[0], 0, c.in[0].shape.rank, number);
  }
  ONTO_HD static std::int64_t group_of(const indexed_call& c, std::int64_t value) { return nearest(value, groups(c)); }
  ONTO_HD static grouped_element element(const indexed_call& c, std::int64_t k) {
    grouped_element e{0, 0};
    ONTO_NO_UNROLL
    for (int d = c.rank - 1; d >= 0; --d) {
      const std::int64_t above = d > 0 ? c.extent[d].divide(k) : 0, at = k - above * c.extent[d].divisor;
      if (d == Axis)
        e.group = at;
      else
        e.offset += at * updates(c).stride[d < Axis ? d : d + c.in[0].shape.rank - 1];
      k = above;
    }
    return e;
  }
  ONTO_HD static std::int64_t offset(const indexed_call& c, std::int64_t number) {
    return offset_in_axes(updates(c), Axis, Axis + c.in[0].shape.rank, number);
  }
  static std::int64_t inner(const indexed_call& c) {
    std::int64_t n = 1;
    for (int d = Axis + 1; d < c.rank; ++d) n *= c.extent[d].divisor;
    return n;
  }
  static int inner_axis(const indexed_call& c) { return Axis + c.in[0].shape.rank; }
};
/// Every element that was taken has a number of its own; its group is the element that it was taken from.
template <int Axis, class T>
struct number_groups<op::gather_gradient<op::take_along<Axis>>, T> : groups_of_reads<T> {
  using groups_of_reads<T>::updates;

  ONTO_HD static std::int64_t count(const indexed_call& c) { return elements_of(updates(c)); }
  ONTO_HD static std::int64_t groups(const indexed_call& c) { return c.size; }
  template <class Access>
  ONTO_HD static std::int64_t group(const indexed_call& c, std::int64_t number) {
    indexed_call taken{{c.in[0], c.in[1]}, updates(c).shape.rank, {}, 0};
    for (int d = 0; d < taken.rank; ++d) taken.extent[d] = index_divisor(updates(c).shape.dims[d]);
    std::int64_t step = 1;
    for (int d = c.rank - 1; d >= 0; step *= c.extent[d--].divisor) taken.in[1].stride[d] = step;
    return indexed_element<op::take_along<Axis>>::template offset<Access>(taken, number);
  }
  ONTO_HD static grouped_element element(const indexed_call&, std::int64_t k) { return {k, 0}; }
  ONTO_HD static std::int64_t offset(const indexed_call& c, std::int64_t number) {
    return offset_in_axes(updates(c), 0, updates(c).shape.rank, number);
  }
  static std::int64_t inner(const indexed_call&) { return 1; }
  static int inner_axis(const indexed_call& c) { return updates(c).shape.rank; }
};

/// Only the last number of a row counts.
template <class T>
struct number_groups<op::scatter_gradient<op::scatter<false>>, T> {
  using rule = scatter_rule<op::scatter<false>, T>;

  ONTO_HD static std::int64_t count(const indexed_call& c) { return c.in[0].shape.dims[0]; }
  ONTO_HD static std::int64_t groups(const indexed_call& c) { return c.in[1].shape.dims[0]; }
  ONTO_HD static std::int64_t place(const indexed_call& c, std::int64_t number) { return number * c.in[0].stride[0]; }
  ONTO_HD static std::int64_t group_of(const indexed_call& c, std::int64_t value) {
    return row_of(value, groups(c), rule::wraps);
  }
};

/// An element of the result: `at<Access>(c, numbers, k)`, of sorted numbers or unsorted ones.
template <class Op, class T>
struct element_of_group {
  template <class Access, class Numbers>
  ONTO_HD ONTO_INLINE static auto at(const indexed_call& c, const Numbers& numbers, std::int64_t k) {
    using groups = number_groups<Op, T>;
    const grouped_element e = groups::element(c, k);
    auto s = groups::template first<Access>(c, k);
    numbers.template of_group<groups, Access>(c, e.group, [&](std::int64_t number) {
      groups::rule::add(s, element_at<T, Access>(groups::updates(c), e.offset + groups::offset(c, number)));
    });
    return groups::rule::finish(s);
  }
};
template <class T>
struct element_of_group<op::scatter_gradient<op::scatter<false>>, T> {
  template <class Access, class Numbers>
  ONTO_HD ONTO_INLINE static T at(const indexed_call& c, const Numbers& numbers, std::int64_t k) {
    using groups = number_groups<op::scatter_gradient<op::scatter<false>>, T>;
    const std::int64_t own = place_of(c, k).at[0], row = group_of<groups, Access>(c, own);
    std::int64_t last = -1;
    if (row >= 0) numbers.template of_group<groups, Access>(c, row, [&](std::int64_t number) { last = number; });
    return last == own ? indexed_element<op::scatter_gradient<op::scatter<false>>>::template at<T, Access>(c, k) : T(0);
  }
};

}  // namespace onto::detail
