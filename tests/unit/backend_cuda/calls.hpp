// SPDX-License-Identifier: BSL-1.0
// Calls of kernels over host memory, and what the blocks of the GPU's kernels do, thread after thread.
#pragma once

#include <onto/backend/cuda/copy_operands.hpp>
#include <onto/backend/cuda/operands.hpp>
#include <onto/backend/cuda/reduce_operands.hpp>

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

namespace calls {

using namespace onto;
using namespace onto::detail;

inline extents shape_of(std::initializer_list<int> dims) {
  extents e;
  for (int d : dims) e.push_back(d);
  return e;
}

inline operand_view view_of(const void* data, std::initializer_list<std::int64_t> strides) {
  operand_view v;
  v.data = const_cast<void*>(data);
  int d = 0;
  for (std::int64_t s : strides) v.stride[d++] = s;
  return v;
}

inline operand_view contiguous_view(const void* data, const extents& space) {
  operand_view v = view_of(data, {});
  contiguous_strides(space, v.stride);
  return v;
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// What a fold's attributes are: the axes.
inline op_info fold_over(std::initializer_list<int> axes) {
  op_info o{op_kind::reduce, "Sum", 0, {}, 1, nullptr, 0, {}};
  o.attribute[2] = static_cast<std::int64_t>(axes.size());
  o.attributes = 3;
  for (int a : axes) o.attribute[o.attributes++] = a;
  return o;
}

/// What the blocks of `reduce_kernel` and `combine_kernel` do.
template <class Program, fold F>
void reduce_on_host(const kernel_call& call) {
  using operation = program_accumulator<Program, F>;
  using state = typename operation::state;
  reduce_operands<Program> operands = reduce_operands_of<Program>(call);
  const fold_grid grid = operands.grid;
  const auto partials = std::make_unique<state[]>(static_cast<std::size_t>(grid.outputs * grid.pieces));
  // Outputs one after the other, their threads by halves.
  const auto fold_column = [](state* slots, int depth) {
    for (int half = depth / 2; half > 0; half /= 2)
      for (int row = 0; row < half; ++row) operation::merge(slots[row], slots[half + row]);
  };
  state slots[block_threads];
  auto* out = static_cast<typename operation::result*>(call.out.data);
  for (int piece = 0; piece < grid.pieces; ++piece)
    for (std::int64_t output = 0; output < grid.outputs; ++output) {
      for (int row = 0; row < grid.depth; ++row) {
        if constexpr (reduce_lanes < Program >> 1)
          slots[row] = operands.packed ? fold_part<Program, F, reduce_lanes<Program>>(operands, output, piece, row)
                                       : fold_part<Program, F, 1>(operands, output, piece, row);
        else
          slots[row] = fold_part<Program, F, 1>(operands, output, piece, row);
      }
      fold_column(slots, grid.depth);
      if (grid.pieces > 1)
        partials[static_cast<std::size_t>(piece * grid.outputs + output)] = slots[0];
      else
        out[output] = operation::finish(slots[0], grid.count());
    }
  if (grid.pieces == 1) return;
  const combine_operands<operation> combine = combine_operands_of<operation>(grid, partials.get(), out);
  for (std::int64_t output = 0; output < grid.outputs; ++output) {
    for (int row = 0; row < combine.grid.depth; ++row) slots[row] = combine_part(combine, output, row);
    fold_column(slots, combine.grid.depth);
    out[output] = operation::finish(slots[0], grid.count());
  }
}

}  // namespace calls
