// SPDX-License-Identifier: BSL-1.0
// Row kernels as flat programs: a pack of phases, each a program over the elements of a row and what is done with its
// values.
#pragma once

#include <onto/graph/phase_kind.hpp>
#include <onto/kernel/program.hpp>
#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/softmax.hpp>

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

/// One phase of a row kernel: a program over the elements of the row, or once for the row, and what is done with its
/// values.
template <phase_kind Kind, class Program, fold F = fold::sum>
struct row_phase {
  using code = Program;
  static constexpr phase_kind kind = Kind;
  static constexpr element type = Program::result;
  static constexpr fold reduction = F;  // where it folds
  static constexpr bool folds =
      Kind == phase_kind::fold || Kind == phase_kind::kept_fold || Kind == phase_kind::store_fold;
  static constexpr bool keeps = Kind == phase_kind::keep || Kind == phase_kind::kept_fold;
  static constexpr bool stores = Kind == phase_kind::store || Kind == phase_kind::store_fold;
  /// Whether later phases are given a value for the row.
  static constexpr bool gives = (folds && !stores) || Kind == phase_kind::value;
};

/// Folds the values of `Program`; `Keeps`: other phases read them too.
template <class Program, fold F, bool Keeps>
using fold_phase = row_phase<Keeps ? phase_kind::kept_fold : phase_kind::fold, Program, F>;
/// Keeps the values of `Program` for other phases.
template <class Program>
using keep_phase = row_phase<phase_kind::keep, Program>;
/// Computes one value for the row.
template <class Program>
using value_phase = row_phase<phase_kind::value, Program>;
/// Stores the values of `Program`. The last phase of a map.
template <class Program>
using store_phase = row_phase<phase_kind::store, Program>;
/// Folds the values of `Program` and stores the result. The last phase of a reduction.
template <class Program, fold F>
using store_fold_phase = row_phase<phase_kind::store_fold, Program, F>;

template <int Number, class Phase, class... Rest>
struct phase_at : phase_at<Number - 1, Rest...> {};
template <class Phase, class... Rest>
struct phase_at<0, Phase, Rest...> {
  using type = Phase;
};

/// A row kernel. Programs load inputs by number, and after them what phases kept, in their order; scalars by number,
/// and after them what phases folded and computed for the row, in their order.
template <int Inputs, int Scalars, class... Phases>
struct row_program {
  static constexpr int inputs = Inputs, scalars = Scalars, phases = sizeof...(Phases);

  /// How many of the first `end` phases keep values, give a value, fold.
  static constexpr int kept_before(int end) { return count({Phases::keeps...}, end); }
  static constexpr int given_before(int end) { return count({Phases::gives...}, end); }
  static constexpr int folds_before(int end) { return count({Phases::folds...}, end); }

  /// The phase that keeps value `number`.
  static constexpr int phase_of_kept(int number) {
    int phase = 0;
    while (kept_before(phase + 1) <= number) ++phase;
    return phase;
  }

  template <int Number>
  using phase = typename phase_at<Number, Phases...>::type;

 private:
  struct flags {
    bool at[phases];
  };
  static constexpr int count(const flags& has, int end) {
    int n = 0;
    for (int k = 0; k < end; ++k) n += has.at[k] ? 1 : 0;
    return n;
  }
};

}  // namespace onto::detail
