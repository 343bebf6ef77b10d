// SPDX-License-Identifier: BSL-1.0
// Softmax and log-softmax on the CPU, alone: a row kernel, over rows or columns of memory.
#pragma once

#include <onto/backend/cpu/columns.hpp>
#include <onto/backend/cpu/row.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/ops/unary.hpp>
#include <onto/runtime/kernel.hpp>

namespace onto::detail {

/// Softmax over elements of type `E` as the phases of a row kernel, which a fused one has too.
template <element E>
struct softmax_phases {
  template <int Slot>
  using input = instruction<load_input, E, Slot>;
  template <int Slot>
  using scalar = instruction<load_scalar, E, Slot>;
  using power = program<input<0>, scalar<0>, instruction<row_exp, E, 0, 1>>;
  using greatest = fold_phase<program<input<0>>, row_maximum, false>;

  using plain = row_program<1, 0, greatest, fold_phase<power, fold::sum, true>,
                            value_phase<program<scalar<1>, instruction<row_inverse, E, 0>>>,
                            store_phase<program<input<1>, scalar<2>, instruction<op::mul, E, 0, 1>>>>;
  using log = row_program<
      1, 0, greatest, fold_phase<power, fold::sum, false>, value_phase<program<scalar<1>, instruction<op::log, E, 0>>>,
      store_phase<
          program<input<0>, scalar<0>, instruction<op::sub, E, 0, 1>, scalar<2>, instruction<op::sub, E, 2, 3>>>>;
};

inline namespace ONTO_VECTOR_ABI {

/// The kernel of softmax and log-softmax over one axis. That of float takes half and bfloat16 too.
template <class T, bool Packs = has_packs>
void cpu_softmax(thread_pool& pool, const kernel_call& call) {
  if (call.space.size() <= 0) return;
  using phases = softmax_phases<element_of<T>>;
  const bool log = takes_logarithm(*call.op);
  const int axis = softmax_axis(*call.op, call.space.rank);
  kernel_call rows = call;
  rows.space.rank = axis + 1;
  if (rows.space.size() == call.space.size())
    return log ? cpu_row<typename phases::log, Packs>(pool, rows) : cpu_row<typename phases::plain, Packs>(pool, rows);
  rows.space.rank = call.space.rank;
  rows.row_axis = call.space.rank - 1 - axis;
  log ? cpu_columns<typename phases::log, Packs>(pool, rows) : cpu_columns<typename phases::plain, Packs>(pool, rows);
}

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail
