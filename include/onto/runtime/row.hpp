// SPDX-License-Identifier: BSL-1.0
// Row kernels as flat programs: a pack of stages, each a program over the elements of a row and what is done with its
// values.
#pragma once

#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/runtime/program.hpp>

namespace onto::detail {

// What softmax is made of. Its exponents are at most 0, and its sums at least 1.
struct row_exp : packed_elementwise<floating_elements, 11> {
  template <class T>
  ONTO_HD static T apply(const T& x, const T& greatest) {
    using math::exp;
    return exp(x - greatest);
  }
};
struct row_inverse : packed_elementwise<floating_elements, 4> {
  template <class T>
  ONTO_HD static T apply(const T& x) {
    return math::splat<T>(1) / x;
  }
};

/// Folds the values of `Program`; `Keeps`: other stages read them too.
template <class Program, fold F, bool Keeps>
struct fold_stage {};
/// Keeps the values of `Program` for other stages.
template <class Program>
struct keep_stage {};
/// Computes one value for the row.
template <class Program>
struct value_stage {};
/// Stores the values of `Program`. The last stage of a map.
template <class Program>
struct store_stage {};
/// Folds the values of `Program` and stores the result. The last stage of a reduction.
template <class Program, fold F>
struct store_fold_stage {};

/// A row kernel. Programs load inputs by number, and after them what stages kept, in their order; scalars by number,
/// and after them what stages folded and computed for the row, in their order.
template <int Inputs, int Scalars, class... Stages>
struct row_program {
  static constexpr int inputs = Inputs;
  static constexpr int scalars = Scalars;
};

}  // namespace onto::detail
