// SPDX-License-Identifier: BSL-1.0
// Softmax and its logarithm: each row's exponentials, divided by their sum.
#pragma once

#include <onto/ops/operation_base.hpp>
#include <onto/ops/reduce.hpp>

namespace onto {

namespace detail {

/// The fold by which softmax finds a row's greatest number in a kernel of rows: `max`, but that it may pass over NaN,
/// which the sum of the exponentials does not.
inline constexpr fold row_maximum = static_cast<fold>(100);

constexpr fold fold_or_max(fold f) { return f == row_maximum ? fold::max : f; }

}  // namespace detail

namespace op {

/// Attributes: whether the logarithm is meant, the axis.
template <bool Log, int Axis>
struct softmax : detail::keeps_element<floating_elements> {
  static constexpr op_kind kind = op_kind::row;
  static constexpr std::string_view name = Log ? "LogSoftmax" : "Softmax";
  static constexpr int cost = 14;
  static constexpr int attribute_count = 2;
  static constexpr std::int64_t attribute[attribute_count] = {Log, Axis};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    const bool there = normalize_axis(Axis, operands[0].rank) >= 0;
    return {operands[0], there ? shape_fault::none : shape_fault::axis};
  }
  ONTO_END_RUNS_ONCE
};

}  // namespace op

namespace detail {

/// The attributes of a softmax: whether its logarithm is meant, and the axis of an operand of `rank` dimensions.
constexpr bool takes_logarithm(const op_info& op) { return op.attribute[0] != 0; }
constexpr int softmax_axis(const op_info& op, int rank) {
  return normalize_axis(static_cast<int>(op.attribute[1]), rank);
}

}  // namespace detail

/// `exp(x) / sum(exp(x))` along one axis, the last unless another is named: `softmax(x)`, `softmax<0>(x)`. The row's
/// maximum is taken off first, so nothing overflows. *Mandates* a floating-point type, and an axis the operand has.
template <int Axis = -1, class E, detail::only_if<expression<E>> = 0>
constexpr auto softmax(const E& x) {  // [onto.axis] an axis is a constant: constexpr int k = 1
  return make<op::softmax<false, detail::axis_in<Axis, E>>>(x);
}

/// The logarithm of `softmax`, computed without it.
template <int Axis = -1, class E, detail::only_if<expression<E>> = 0>
constexpr auto log_softmax(const E& x) {
  return make<op::softmax<true, detail::axis_in<Axis, E>>>(x);
}

}  // namespace onto
