// SPDX-License-Identifier: BSL-1.0
// What the threads of a softmax know, fold and write. Plain arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/fold.hpp>
#include <onto/backend/cuda/fold_grid.hpp>

#include <cstdint>

namespace onto::detail {

/// What a softmax of elements of type `T` folds: half and bfloat16 as floats.
template <class T>
using softmax_fold = softmax_accumulation<computed_of<T>>;

/// Rows are outputs of a fold over the axis; operand 0 is read and operand 1 written.
template <class T>
struct softmax_operands {
  const T* in;
  T* out;
  strided_space<2> kept;
  strided_space<2> folded;  // the axis, or nothing where its extent is 1
  fold_grid grid;
  bool log;
};

template <class T>
softmax_operands<T> softmax_operands_of(const kernel_call& call) {
  const std::int64_t named = call.op->attribute[1];
  const dimension_set axis = 1u << static_cast<unsigned>(named < 0 ? named + call.space.rank : named);
  const dimension_set rest = all_dimensions(call.space.rank) & ~axis;
  operand_view operands[] = {call.in[0], call.out};
  contiguous_strides(call.space, operands[1].stride);
  softmax_operands<T> s{};
  s.in = static_cast<const T*>(call.in[0].data);
  s.out = static_cast<T*>(call.out.data);
  s.kept = collapse<2>(call.space, rest, operands);
  s.folded = collapse<2>(call.space, axis, operands);
  s.grid = arrange_fold(size_of_dimensions(call.space, rest), size_of_dimensions(call.space, axis),
                        folds_along_memory(s.kept, s.folded), block_threads, false);
  s.log = call.op->attribute[0] != 0;
  return s;
}

/// Where a row starts, in what is read and what is written.
struct row_start {
  std::int64_t in;
  std::int64_t out;
};

template <class T>
ONTO_HD ONTO_INLINE row_start start_of_row(const softmax_operands<T>& operands, std::int64_t output) {
  const coordinates where = locate(operands.kept, output);
  return {offset(operands.kept, where, 0), offset(operands.kept, where, 1)};
}

/// What one thread of a row folds.
template <class T>
ONTO_HD ONTO_INLINE typename softmax_fold<T>::state softmax_part(const softmax_operands<T>& operands,
                                                                 const row_start& start, int row) {
  auto state = softmax_fold<T>::empty();
  for (std::int64_t k = row; k < operands.grid.count; k += operands.grid.depth)
    softmax_fold<T>::add(state, device_load(operands.in + start.in + k * operands.folded.stride[0][0]));
  return state;
}

/// What one thread of a row writes.
template <class T>
ONTO_HD ONTO_INLINE void softmax_write(const softmax_operands<T>& operands, const row_start& start, int row,
                                       const typename softmax_fold<T>::state& state) {
  for (std::int64_t k = row; k < operands.grid.count; k += operands.grid.depth) {
    const computed_of<T> x = device_load(operands.in + start.in + k * operands.folded.stride[0][0]);
    device_store(
        operands.out + start.out + k * operands.folded.stride[1][0],
        static_cast<T>(operands.log ? softmax_fold<T>::log_softmax(state, x) : softmax_fold<T>::softmax(state, x)));
  }
}

}  // namespace onto::detail
