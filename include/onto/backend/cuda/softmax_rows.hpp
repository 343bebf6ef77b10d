// SPDX-License-Identifier: BSL-1.0
// Softmax and its logarithm as a program of rows, for softmax alone over any axis.
#pragma once

#include <onto/kernel/accumulator.hpp>
#include <onto/kernel/row_phases.hpp>

namespace onto::detail {

/// What is the same for a row beside its maximum: the inverse of its sum of exponentials, or the sum's logarithm.
struct softmax_factor {
  static constexpr op_kind kind = op_kind::map;
  template <class T>
  ONTO_HD static T apply(const T& sum, const T& log) {
    return log != T(0) ? math::log(sum) : T(1) / sum;
  }
};
struct softmax_of {
  static constexpr op_kind kind = op_kind::map;
  template <class T>
  ONTO_HD static T apply(const T& x, const T& greatest, const T& factor, const T& log) {
    const T rest = x - greatest;
    return log != T(0) ? rest - factor : math::exp(rest) * factor;
  }
};

/// Scalar 0: whether the logarithm is meant. Given are a row's maximum, its sum of exponentials, and what follows of
/// it.
template <element E>
using softmax_rows = row_program<
    1, 1, fold_phase<program<instruction<load_input, E, 0>>, row_maximum, false>,
    fold_phase<program<instruction<load_input, E, 0>, instruction<load_scalar, E, 1>, instruction<row_exp, E, 0, 1>>,
               fold::sum, false>,
    value_phase<
        program<instruction<load_scalar, E, 2>, instruction<load_scalar, E, 0>, instruction<softmax_factor, E, 0, 1>>>,
    store_phase<program<instruction<load_input, E, 0>, instruction<load_scalar, E, 1>, instruction<load_scalar, E, 3>,
                        instruction<load_scalar, E, 0>, instruction<softmax_of, E, 0, 1, 2, 3>>>>;

}  // namespace onto::detail
