// SPDX-License-Identifier: BSL-1.0
// Tensors side by side along one of their axes.
#pragma once

#include <onto/ops/operation_base.hpp>

#include <limits>

namespace onto {

namespace op {

/// Attribute: the axis.
template <int Axis>
struct concat : detail::keeps_element<elements_and_text> {
  static constexpr op_kind kind = op_kind::concat;
  static constexpr std::string_view name = "Concat";
  static constexpr int cost = 0;
  static constexpr int attribute_count = 1;
  static constexpr std::int64_t attribute[attribute_count] = {Axis};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int count) {
    inferred r;
    r.shape = operands[0];
    const int axis = normalize_axis(Axis, r.shape.rank);
    if (axis < 0) return {r.shape, shape_fault::axis};
    for (int n = 1; n < count; ++n) {
      const extents& x = operands[n];
      if (x.rank != r.shape.rank) return {r.shape, shape_fault::concat};
      for (int k = 0; k < x.rank; ++k) {
        int& e = r.shape[k];
        if (k == axis) {
          if (e != dyn && x[k] != dyn && e > std::numeric_limits<int>::max() - x[k]) return {x, shape_fault::extent};
          e = e == dyn || x[k] == dyn ? dyn : e + x[k];
        } else if (e == dyn) {
          e = x[k];
        } else if (x[k] != dyn && x[k] != e) {
          return {r.shape, shape_fault::concat};
        }
      }
    }
    return r;
  }
  ONTO_END_RUNS_ONCE
};

}  // namespace op

/// The operands side by side along `Axis`: `concat<0>(x, y)`.
/// *Mandates* 1 to 64 operands of one element type and rank, whose extents differ only along the axis.
template <int Axis, expression First, expression... More>
constexpr auto concat(const First& first, const More&... more) {
  constexpr int count = 1 + static_cast<int>(sizeof...(More));
  if constexpr (count <= 64) {
    return make<op::concat<detail::axis_in<Axis, First>>>(first, more...);
  } else {
    return typename detail::too_many_operands<count>::result{};
  }
}

}  // namespace onto
