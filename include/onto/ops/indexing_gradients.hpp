// SPDX-License-Identifier: BSL-1.0
// What operations that go by numbers of elements share, and those that only their gradients are made of: what was read
// is brought together again, what was written is read.
#pragma once

#include <onto/ops/operation_base.hpp>

#include <onto/ops/generate.hpp>

namespace onto {

namespace detail {

/// Operations whose first operand is numbers of elements.
template <element_set Accepted>
struct by_number {
  static constexpr op_kind kind = op_kind::own_kernel;
  static constexpr int cost = 1;
  static constexpr kernel_set kernels = kernel_set::of(Accepted);

  template <class... E>
  static constexpr element_check check(element number, E... operands) {
    return (integer_elements & element_bit(number)) == 0 ? element_check::numbers : check_same(Accepted, operands...);
  }
  template <class... E>
  static constexpr element result(element, element x, E...) {
    return x;
  }
};

ONTO_BEGIN_RUNS_ONCE
/// Two extents that have to be equal.
constexpr bool may_be_equal(int a, int b) { return a == b || a == dyn || b == dyn; }

constexpr inferred taken(int axis, const extents& numbers, const extents& x) {
  axis = normalize_axis(axis, x.rank);
  if (axis < 0) return {x, shape_fault::axis};
  inferred r;
  bool none = false;
  for (int k = 0; k < axis; ++k) r.shape.push_back(x[k]);
  for (int k = 0; k < numbers.rank; ++k) {
    none = none || numbers[k] == 0;
    r.shape.push_back(numbers[k]);
  }
  for (int k = axis + 1; k < x.rank; ++k) r.shape.push_back(x[k]);
  if (x[axis] == 0 && !none) r.fault = shape_fault::few;
  return r;
}

constexpr inferred taken_along(int axis, const extents& numbers, const extents& x) {
  axis = normalize_axis(axis, x.rank);
  if (axis < 0) return {x, shape_fault::axis};
  if (numbers.rank != x.rank) return {x, shape_fault::along};
  bool ok = true;
  extents a = numbers, b = x;
  a[axis] = b[axis] = 1;
  inferred r{broadcast(a, b, ok)};
  r.shape[axis] = numbers[axis];
  if (!ok) r.fault = shape_fault::along;
  if (x[axis] == 0 && numbers[axis] != 0) r.fault = shape_fault::few;
  return r;
}

/// Numbers, one for each of the first elements of `updates`, whose other extents are those of `x`.
constexpr shape_fault scattered(const extents& numbers, const extents& x, const extents& updates) {
  if (numbers.rank != 1 || x.rank < 1 || updates.rank != x.rank) return shape_fault::updates;
  bool fits = may_be_equal(numbers[0], updates[0]);
  for (int k = 1; k < x.rank; ++k) fits = fits && may_be_equal(x[k], updates[k]);
  return fits ? shape_fault::none : shape_fault::updates;
}

/// A place for a box of extents in `x`, one number an axis.
constexpr shape_fault placed(const extents& numbers, const extents& x, const extents& box) {
  if (numbers.rank != 1 || !may_be_equal(numbers[0], x.rank) || box.rank != x.rank) return shape_fault::rank;
  for (int k = 0; k < x.rank; ++k)
    if (x[k] != dyn && box[k] != dyn && box[k] > x[k]) return shape_fault::few;
  return shape_fault::none;
}
ONTO_END_RUNS_ONCE

}  // namespace detail

namespace op {

/// What elements that `Read` took by number give back: an element's gradient is the sum over those that it was taken
/// for. Operands: the numbers, what was read, of which the shape counts, and the gradient of what came of it.
template <class Read>
struct gather_gradient : detail::by_number<floating_elements> {
  static constexpr std::string_view name = "GatherGrad";
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) { return {x[1], shape_fault::none}; }
  ONTO_END_RUNS_ONCE
  template <int K>
  static constexpr auto derivative(auto g, auto, auto numbers, auto, auto) {
    if constexpr (K == 2)
      return make<Read>(numbers, g);
    else
      return no_derivative{};
  }
};

/// What rows that `Write` put or added by number give back: the row that each came to, 0 where it came to none or
/// another replaced it. Operands: the numbers, and the gradient of what came of it.
template <class Write>
struct scatter_gradient : detail::by_number<floating_elements> {
  static constexpr std::string_view name = "ScatterGrad";
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) {
    inferred r{x[1], shape_fault::none};
    r.shape[0] = x[0][0];
    return r;
  }
  ONTO_END_RUNS_ONCE
  template <int>
  static constexpr auto derivative(auto g, auto, auto numbers, auto x) {
    return Write::into_zeros(numbers, x, g);
  }
};

struct update_slice;

/// The part of an operand where an update was put: where it begins, the operand, and the update, whose shape counts.
struct slice_like : detail::by_number<all_elements> {
  static constexpr std::string_view name = "DynamicSlice";
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) { return {x[2], detail::placed(x[0], x[1], x[2])}; }
  ONTO_END_RUNS_ONCE
  template <int K>
  static constexpr auto derivative(auto g, auto, auto starts, auto x, auto) {
    if constexpr (K == 1)
      return make<update_slice>(starts, make<zeros_like>(x), g);
    else
      return no_derivative{};
  }
};

}  // namespace op

}  // namespace onto
