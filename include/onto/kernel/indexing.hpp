// SPDX-License-Identifier: BSL-1.0
// Operations that go by numbers of elements: what an element of the result is. The same on every backend; `Access`
// loads.
#pragma once

#include <onto/core/config.hpp>
#include <onto/kernel/index_divisor.hpp>
#include <onto/kernel/scan.hpp>
#include <onto/ops/indexing.hpp>

#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// An operand with strides of its own.
struct indexed_operand {
  const void* data;
  element type;
  extents shape;
  std::int64_t stride[max_rank];
};

/// A call: its operands, and the extents of the result, which is contiguous.
struct indexed_call {
  static constexpr int most_operands = 3;
  indexed_operand in[most_operands];
  int rank;
  index_divisor extent[max_rank];
  std::int64_t size;
};

// Loops over dimensions end at `max_rank`, too: unrolled, they keep places in a GPU's registers.

/// An element of a result, one number per dimension.
struct indexed_place {
  std::int64_t at[max_rank];
};
ONTO_HD ONTO_INLINE indexed_place place_of(const indexed_call& c, std::int64_t k) {
  indexed_place p{};
#if defined(__CUDA_ARCH__)
  constexpr int most = max_rank;
#else
  const int most = c.rank;
#endif
  for (int d = most - 1; d > 0; --d) {
    if (d >= c.rank) continue;
    const std::int64_t q = c.extent[d].divide(k);
    p.at[d] = k - q * c.extent[d].divisor;
    k = q;
  }
  p.at[0] = k;
  return p;
}

template <class T, class Access>
ONTO_HD ONTO_INLINE T element_at(const indexed_operand& o, std::int64_t offset) {
  return Access::load(static_cast<const T*>(o.data) + offset);
}

/// A number as it is counted with: what no int64 holds is more than there ever is.
template <class T>
ONTO_HD ONTO_INLINE constexpr std::int64_t count_of(T n) {
  if constexpr (std::is_same_v<T, std::uint64_t>)
    return n >> 63 != 0 ? most_count : static_cast<std::int64_t>(n);
  else
    return std::int64_t{n};
}

/// Calls `f` with a zero of a type of integers.
ONTO_HOST_DEVICE_EITHER
template <class F>
ONTO_HD ONTO_INLINE auto with_integer(element type, const F& f) {
  switch (type) {
    case element::int8: return f(std::int8_t{});
    case element::uint8: return f(std::uint8_t{});
    case element::int16: return f(std::int16_t{});
    case element::uint16: return f(std::uint16_t{});
    case element::int32: return f(std::int32_t{});
    case element::uint32: return f(std::uint32_t{});
    case element::uint64: return f(std::uint64_t{});
    default: return f(std::int64_t{});
  }
}

/// A number of an element, of any type of integers.
template <class Access>
ONTO_HD ONTO_INLINE std::int64_t number_at(const indexed_operand& o, std::int64_t offset) {
  return with_integer(o.type, [&](auto zero) { return count_of(element_at<decltype(zero), Access>(o, offset)); });
}

/// Numbers below 0 count from the end.
ONTO_HD ONTO_INLINE constexpr std::int64_t from_end(std::int64_t i, std::int64_t n) { return i < 0 ? i + n : i; }
ONTO_HD ONTO_INLINE constexpr std::int64_t clamped(std::int64_t i, std::int64_t most) {
  return i < 0 ? 0 : i > most ? most : i;
}
/// What is read of `n` elements.
ONTO_HD ONTO_INLINE constexpr std::int64_t nearest(std::int64_t i, std::int64_t n) {
  return clamped(from_end(i, n), n - 1);
}

/// The element `k` of a result: `template <class T, class Access> static R at(const indexed_call&, std::int64_t k)`,
/// for operands of type `T`. Axes of operations are counted from the front.
template <class Op>
struct indexed_element;

template <int Axis>
struct indexed_element<op::take<Axis>> {
  /// Which element is taken for the element `k` of the result.
  template <class Access>
  ONTO_HD static std::int64_t offset(const indexed_call& c, std::int64_t k) {
    const indexed_operand &numbers = c.in[0], &x = c.in[1];
    constexpr int axis = Axis;
    const int count = numbers.shape.rank;
    const indexed_place p = place_of(c, k);
    std::int64_t number = 0, offset = 0;
    for (int d = 0; d < count; ++d) number += p.at[axis + d] * numbers.stride[d];
    for (int d = 0; d < x.shape.rank; ++d)
      if (d != axis) offset += p.at[d < axis ? d : d + count - 1] * x.stride[d];
    return offset + nearest(number_at<Access>(numbers, number), x.shape.dims[axis]) * x.stride[axis];
  }
  template <class T, class Access>
  ONTO_HD static T at(const indexed_call& c, std::int64_t k) {
    return element_at<T, Access>(c.in[1], offset<Access>(c, k));
  }
  /// The axis of a result for the elements of one axis of what it is taken from; -1 for that along which it is taken.
  ONTO_HD static constexpr int axis_of(const extents& numbers, int d) {
    return d < Axis ? d : d > Axis ? d + numbers.rank - 1 : -1;
  }
};

template <int Axis>
struct indexed_element<op::take_along<Axis>> {
  template <class Access>
  ONTO_HD static std::int64_t offset(const indexed_call& c, std::int64_t k) {
    const indexed_operand &numbers = c.in[0], &x = c.in[1];
    constexpr int axis = Axis;
    const indexed_place p = place_of(c, k);
    std::int64_t number = 0, offset = 0;
    for (int d = 0; d < max_rank && d < c.rank; ++d) {
      if (numbers.shape.dims[d] != 1) number += p.at[d] * numbers.stride[d];
      if (d != axis && x.shape.dims[d] != 1) offset += p.at[d] * x.stride[d];
    }
    return offset + nearest(number_at<Access>(numbers, number), x.shape.dims[axis]) * x.stride[axis];
  }
  template <class T, class Access>
  ONTO_HD static T at(const indexed_call& c, std::int64_t k) {
    return element_at<T, Access>(c.in[1], offset<Access>(c, k));
  }
  ONTO_HD static constexpr int axis_of(const extents&, int d) { return d == Axis ? -1 : d; }
};

/// Where a box of `extent` begins along an axis: all of it is inside.
template <class Access>
ONTO_HD ONTO_INLINE std::int64_t start_of(const indexed_operand& starts, int axis, std::int64_t n,
                                          std::int64_t extent) {
  return clamped(from_end(number_at<Access>(starts, axis * starts.stride[0]), n), n - extent);
}

template <int... Sizes>
struct indexed_element<op::dynamic_slice<Sizes...>> {
  template <class T, class Access>
  ONTO_HD static T at(const indexed_call& c, std::int64_t k) {
    const indexed_operand& x = c.in[1];
    const indexed_place p = place_of(c, k);
    std::int64_t offset = 0;
    for (int d = 0; d < max_rank && d < c.rank; ++d)
      offset += (p.at[d] + start_of<Access>(c.in[0], d, x.shape.dims[d], c.extent[d].divisor)) * x.stride[d];
    return element_at<T, Access>(x, offset);
  }
};

template <>
struct indexed_element<op::slice_like> : indexed_element<op::dynamic_slice<>> {};

template <>
struct indexed_element<op::update_slice> {
  template <class T, class Access>
  ONTO_HD static T at(const indexed_call& c, std::int64_t k) {
    const indexed_operand &x = c.in[1], &update = c.in[2];
    const indexed_place p = place_of(c, k);
    std::int64_t old = 0, offset = 0;
    bool inside = true;
    for (int d = 0; d < max_rank && d < c.rank; ++d) {
      const std::int64_t at = p.at[d] - start_of<Access>(c.in[0], d, x.shape.dims[d], update.shape.dims[d]);
      inside = inside && at >= 0 && at < update.shape.dims[d];
      old += p.at[d] * x.stride[d];
      offset += at * update.stride[d];
    }
    return inside ? element_at<T, Access>(update, offset) : element_at<T, Access>(x, old);
  }
};

/// How updates of a row come together: they are put in its place, or summed up. `base`: the operand whose rows they are
/// for, or -1; `updates`: the operand they are in. `Result` is what comes out.
template <class Op, class T>
struct scatter_rule;
template <class T>
struct scatter_rule<op::scatter<false>, T> {
  static constexpr int base = 1, updates = 2;
  static constexpr bool wraps = true;
  static constexpr bool replaces = true;
  using result = T;
  struct state {
    T value;
  };
  ONTO_HD static state first(T x) { return {x}; }
  ONTO_HD static void add(state& s, T x) { s.value = x; }
  ONTO_HD static T finish(const state& s) { return s.value; }
};
/// What is folded of updates of type `T`.
template <fold F, class T, class Result>
struct scatter_fold {
  using rule = scanning<F, computed_of<T>>;
  using result = Result;
  static constexpr bool replaces = false;
  using term = typename rule::term;
  using kept = scan_state<rule>;
  using state = typename kept::type;
  ONTO_HD static term term_of(T x) { return static_cast<term>(static_cast<computed_of<T>>(x)); }
  ONTO_HD static state none() { return kept::of(rule::empty()); }
  ONTO_HD static state first(T x) { return kept::of(term_of(x)); }
  ONTO_HD static void add(state& s, T x) { kept::add(s, term_of(x)); }
  ONTO_HD static void merge(state& s, const state& next) { kept::append(s, next); }
  ONTO_HD static Result finish(const state& s) { return static_cast<Result>(kept::finish(s)); }
};
template <class T, class Result>
using scatter_sum = scatter_fold<fold::sum, T, Result>;
template <class T>
struct scatter_rule<op::scatter<true>, T> : scatter_sum<T, T> {
  static constexpr int base = 1, updates = 2;
  static constexpr bool wraps = true;
};
template <int N, class T>
struct scatter_rule<op::segment_sum<N>, T> : scatter_sum<T, element_t<summed_as(element_of<T>)>> {
  static constexpr int base = -1, updates = 1;
  static constexpr bool wraps = false;
};
template <int N, fold F, class T>
struct scatter_rule<op::segment_extreme<N, F>, T> : scatter_fold<F, T, T> {
  static constexpr int base = -1, updates = 1;
  static constexpr bool wraps = false;
};

/// The row that a number is of, or -1.
ONTO_HD ONTO_INLINE constexpr std::int64_t row_of(std::int64_t number, std::int64_t rows, bool wraps) {
  const std::int64_t row = wraps ? from_end(number, rows) : number;
  return row < rows && row >= 0 ? row : -1;
}
/// The row that number `k` is of, or -1.
template <class Access>
ONTO_HD ONTO_INLINE std::int64_t row_of(const indexed_operand& numbers, std::int64_t k, std::int64_t rows, bool wraps) {
  return row_of(number_at<Access>(numbers, k * numbers.stride[0]), rows, wraps);
}

/// The group of an element of a result, and how far from the first update of one of its numbers the element's lies.
struct grouped_element {
  std::int64_t group;
  std::int64_t offset;
};

/// The row of an element of a result, and how far from the first element of an operand's row the element's lies.
// Without an array of places, which would be in a thread's local memory.
ONTO_HD ONTO_INLINE grouped_element element_in_row(const indexed_call& c, const indexed_operand& o, std::int64_t k) {
  grouped_element e{k, 0};
  ONTO_NO_UNROLL
  for (int d = c.rank - 1; d > 0; --d) {
    const std::int64_t above = c.extent[d].divide(e.group);
    e.offset += (e.group - above * c.extent[d].divisor) * o.stride[d];
    e.group = above;
  }
  return e;
}

/// The row that a number's update came to; whether another replaced it there is not asked.
template <class Write>
struct indexed_element<op::scatter_gradient<Write>> {
  template <class T, class Access>
  ONTO_HD static T at(const indexed_call& c, std::int64_t k) {
    const indexed_operand &numbers = c.in[0], &gradient = c.in[1];
    const grouped_element e = element_in_row(c, gradient, k);
    const std::int64_t row = row_of<Access>(numbers, e.group, gradient.shape.dims[0], scatter_rule<Write, T>::wraps);
    return row < 0 ? T(0) : element_at<T, Access>(gradient, row * gradient.stride[0] + e.offset);
  }
};

template <bool Right>
struct indexed_element<op::searchsorted<Right>> {
  /// NaN comes last.
  template <class T>
  ONTO_HD static bool comes_before(T a, T b) {
    return a < b || (a == a && b != b);
  }
  template <class T, class Access>
  ONTO_HD static std::int64_t at(const indexed_call& c, std::int64_t k) {
    using number = computed_of<T>;
    const indexed_operand &sorted = c.in[0], &values = c.in[1];
    const indexed_place p = place_of(c, k);
    std::int64_t offset = 0;
    for (int d = 0; d < max_rank && d < c.rank; ++d) offset += p.at[d] * values.stride[d];
    const auto value = static_cast<number>(element_at<T, Access>(values, offset));
    const auto behind = [&](std::int64_t i) {
      const auto there = static_cast<number>(element_at<T, Access>(sorted, i * sorted.stride[0]));
      return Right ? !comes_before(value, there) : comes_before(there, value);
    };
    // What is compared does not depend on what was found, so that searches go side by side.
    std::int64_t first = 0, left = sorted.shape.dims[0];
    if (left == 0) return 0;
    for (; left > 1; left -= left / 2)
      if (behind(first + left / 2 - 1)) first += left / 2;
    if (behind(first)) ++first;
    return first;
  }
};

template <int Axis>
struct indexed_element<op::extent<Axis>> {
  template <class T, class Access>
  ONTO_HD static std::int64_t at(const indexed_call& c, std::int64_t) {
    return c.in[0].shape.dims[Axis];
  }
};

}  // namespace onto::detail
