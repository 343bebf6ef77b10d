// SPDX-License-Identifier: BSL-1.0
// Calls of kernels over host memory, and what the blocks of the GPU's kernels do, thread after thread.
#pragma once

#include <onto/backend/cuda/copy_operands.hpp>
#include <onto/backend/cuda/operands.hpp>
#include <onto/backend/cuda/reduce_operands.hpp>
#include <onto/backend/cuda/softmax_operands.hpp>

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
  using operation = program_accumulation<Program, F>;
  using state = typename operation::state;
  reduce_operands<Program> operands = reduce_operands_of<Program>(call);
  const fold_grid grid = operands.grid;
  const auto partials = std::make_unique<state[]>(static_cast<std::size_t>(grid.outputs * grid.pieces));
  const auto rows = [](state* slots, const fold_grid& g) {
    for (int half = g.depth / 2; half > 0; half /= 2)
      for (int thread = 0; thread < half * g.width; ++thread)
        operation::merge(slots[thread], slots[half * g.width + thread]);
  };
  state slots[block_threads];
  auto* out = static_cast<typename operation::result*>(call.out.data);
  for (std::int64_t piece = 0; piece < grid.pieces; ++piece)
    for (std::int64_t block = 0; block < grid.blocks; ++block) {
      for (int thread = 0; thread < block_threads; ++thread) {
        const int row = grid.row(thread), column = grid.column(thread);
        const std::int64_t output = block * grid.width + column;
        state& slot = slots[row * grid.width + column];
        if (output >= grid.outputs)
          slot = operation::empty();
        else if (operands.folded.rank <= 1)
          slot = fold_part<Program, F, true>(operands, output, piece, row);
        else
          slot = fold_part<Program, F, false>(operands, output, piece, row);
      }
      rows(slots, grid);
      for (int column = 0; column < grid.width; ++column) {
        const std::int64_t output = block * grid.width + column;
        if (output >= grid.outputs) continue;
        if (grid.pieces > 1)
          partials[static_cast<std::size_t>(output * grid.pieces + piece)] = slots[column];
        else
          out[output] = operation::finish(slots[column], grid.count);
      }
    }
  if (grid.pieces == 1) return;
  combine_operands<operation> combine{};
  combine.grid = arrange_fold(grid.outputs, grid.pieces, true, block_threads, false);
  combine.partials = partials.get();
  for (std::int64_t output = 0; output < grid.outputs; ++output) {
    const int depth = combine.grid.depth;
    for (int row = 0; row < depth; ++row) slots[row] = combine_part(combine, output, row);
    fold_grid one = combine.grid;
    one.width = 1;
    rows(slots, one);
    out[output] = operation::finish(slots[0], grid.count);
  }
}

/// What the blocks of `softmax_kernel` do.
template <class T>
void softmax_on_host(const kernel_call& call) {
  using operation = softmax_fold<T>;
  const softmax_operands<T> operands = softmax_operands_of<T>(call);
  for (std::int64_t output = 0; output < operands.grid.outputs; ++output) {
    const row_start start = start_of_row(operands, output);
    std::vector<typename operation::state> rows;
    for (int row = 0; row < operands.grid.depth; ++row) rows.push_back(softmax_part(operands, start, row));
    for (std::size_t half = rows.size() / 2; half > 0; half /= 2)
      for (std::size_t row = 0; row < half; ++row) operation::merge(rows[row], rows[row + half]);
    for (int row = 0; row < operands.grid.depth; ++row) softmax_write(operands, start, row, rows[0]);
  }
}

}  // namespace calls
