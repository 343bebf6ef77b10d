// SPDX-License-Identifier: BSL-1.0
// Softmax and log-softmax on the CPU, over any axis: a row kernel. Rows along another axis than the last are brought
// next to each other, and back, by tiles.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/map.hpp>
#include <onto/backend/cpu/row.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/ops/unary.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// Softmax over elements of type `E` as the stages of a row kernel, which a fused one has too.
template <element E>
struct softmax_stages {
  template <int Slot>
  using input = instruction<load_input, E, Slot>;
  template <int Slot>
  using scalar = instruction<load_scalar, E, Slot>;
  using power = program<input<0>, scalar<0>, instruction<row_exp, E, 0, 1>>;
  using greatest = fold_stage<program<input<0>>, row_maximum, false>;

  using plain = row_program<1, 0, greatest, fold_stage<power, fold::sum, true>,
                            value_stage<program<scalar<1>, instruction<row_inverse, E, 0>>>,
                            store_stage<program<input<1>, scalar<2>, instruction<op::mul, E, 0, 1>>>>;
  using log = row_program<
      1, 0, greatest, fold_stage<power, fold::sum, false>, value_stage<program<scalar<1>, instruction<op::log, E, 0>>>,
      store_stage<
          program<input<0>, scalar<0>, instruction<op::sub, E, 0, 1>, scalar<2>, instruction<op::sub, E, 2, 3>>>>;
};

/// Runs a row kernel of one operand whose rows lie along any axis of the call's space.
inline void run_rows_along(thread_pool& pool, const row_kernel& kernel, const kernel_call& call, int axis) {
  kernel_call rows = call;
  const operand_view& in = call.in[0];
  const std::int64_t n = call.space.dims[axis];
  extents columns = call.space;
  columns.dims[axis] = 1;
  rows.space.rank = axis + 1;
  if (rows.space.size() == call.space.size()) return run_row_kernel(pool, kernel, rows);
  std::int64_t stride[max_rank];
  contiguous_strides(call.space, stride);
  const auto l = coalesce<2>(columns, {in.stride, stride});
  const int size = size_of(in.type), inner = l.rank - 1;
  const std::int64_t line = 64 / size, most = n * line < 4096 ? 4096 / n / line * line : line;
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    small_array<char, 32768> tile((most < hi - lo ? most : hi - lo) * n * size);
    operand_view view;
    view.type = in.type;
    view.data = tile.data();
    view.stride[0] = n;
    view.stride[1] = 1;
    kernel_call part = call;
    part.in = &view;
    part.out.data = tile.data();
    for_each_row(l, lo, hi, [&](const std::int64_t* offset, std::int64_t count) {
      for (std::int64_t k = 0; k < count; k += most) {
        const std::int64_t some = count - k < most ? count - k : most;
        part.space = shape<dyn, dyn>{};
        part.space.dims[0] = static_cast<int>(some);
        part.space.dims[1] = static_cast<int>(n);
        const std::int64_t from = offset[0] + k * l.stride[0][inner], to = offset[1] + k * l.stride[1][inner];
        copy_elements(size, tile.data(), n, 1, advance(in.data, from, in.type), l.stride[0][inner], in.stride[axis],
                      some, n);
        run_rows(row_plan(kernel, part), 0, some);
        copy_elements(size, advance(call.out.data, to, in.type), stride[axis], l.stride[1][inner], tile.data(), 1, n, n,
                      some);
      }
    });
  };
  split(pool, l.size(), map_grain(kernel.cost) / n / line * line + line, body, is_brief(l.size() * n, kernel.cost));
}

/// The kernel of softmax and log-softmax over one axis. That of float takes half and bfloat16 too.
template <class T, bool Packs = has_packs>
void cpu_softmax(thread_pool& pool, const kernel_call& call) {
  if (call.space.size() <= 0) return;
  using stages = softmax_stages<element_of<T>>;
  run_rows_along(pool,
                 takes_logarithm(*call.op) ? row_kernel_of<typename stages::log, Packs>::value
                                           : row_kernel_of<typename stages::plain, Packs>::value,
                 call, softmax_axis(*call.op, call.space.rank));
}

}  // namespace onto::detail
