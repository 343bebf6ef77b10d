// SPDX-License-Identifier: BSL-1.0
// Maps without a plan: operands are read in place, where all elements, or those of a row, lie next to each other, as
// when one row is added to each of a matrix; or the map is small, and what lies apart is gathered before it.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/span.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// A call's results: `out`, and after it the further ones.
ONTO_INLINE const operand_view& output_of(const kernel_call& c, int i) { return i == 0 ? c.out : c.more_out[i - 1]; }

/// Whether nothing has to be moved or converted before the program and after it.
inline bool all_in_place(const kernel_call& call) {
  if (call.rolls) return false;
  for (int i = 0; i < call.inputs; ++i)
    if (is_half_precision(call.in[i].type) || !is_contiguous(call.space, call.in[i].stride)) return false;
  for (int i = 0; i <= call.more_outputs; ++i)
    if (is_half_precision(output_of(call, i).type)) return false;
  return true;
}

/// *Returns* false, having done nothing, where a map's rows cannot be read in place. *Preconditions* it has elements.
ONTO_NOINLINE inline bool run_rows_in_place(span_function span, const kernel_call& call) {
  const int last = call.space.rank - 1;
  if (last < 1 || call.space.dims[last] < least_row_in_place || call.more_outputs > 0 || call.rolls) return false;
  bool readable = !is_half_precision(call.out.type);
  for (int i = 0; i < call.inputs; ++i)
    readable = readable && call.in[i].stride[last] == 1 && !is_half_precision(call.in[i].type);
  if (!readable) return false;

  const std::int64_t columns = call.space.dims[last], total = call.space.size();
  small_array<const void*, 16> in(call.inputs);
  for (int i = 0; i < call.inputs; ++i) in[i] = call.in[i].data;
  int at[max_rank]{};  // the row
  for (std::int64_t first = 0;;) {
    span({in.data(), advance(call.out.data, first, call.out.type), first, columns, call.scalars});
    first += columns;
    if (first == total) return true;
    int d = last - 1;  // that steps on; those inside of it begin again
    while (at[d] + 1 == call.space.dims[d]) --d;
    ++at[d];
    for (int i = 0; i < call.inputs; ++i) {
      std::int64_t step = call.in[i].stride[d];
      for (int k = d + 1; k < last; ++k) step -= at[k] * call.in[i].stride[k];
      in[i] = advance(in[i], step, call.in[i].type);
    }
    for (int k = d + 1; k < last; ++k) at[k] = 0;
  }
}

/// Runs a map of few elements at once: what does not lie next to each other is gathered whole. *Returns* false, having
/// done nothing, where elements are converted or operands rolled.
ONTO_NOINLINE inline bool run_gathered(span_function span, copy_function copy, const kernel_call& call) {
  if (call.rolls) return false;
  const std::int64_t total = call.space.size(), slot = (8 * total + 63) / 64 * 64;  // bytes, of any elements
  small_array<const void*, 16> in(call.inputs);
  std::int64_t bytes = 0;
  for (int i = 0; i < call.inputs; ++i) {
    const operand_view& v = call.in[i];
    if (is_half_precision(v.type)) return false;
    in[i] = is_contiguous(call.space, v.stride) ? v.data : nullptr;
    if (!in[i]) bytes += slot;
  }
  small_array<void*, 16> more(call.more_outputs);
  for (int i = 0; i <= call.more_outputs; ++i) {
    if (is_half_precision(output_of(call, i).type)) return false;
    if (i > 0) more[i - 1] = call.more_out[i - 1].data;
  }
  small_array<char, 16384> room(bytes);
  char* free = room.data();
  std::int64_t together[max_rank];
  contiguous_strides(call.space, together);
  for (int i = 0; i < call.inputs; ++i) {
    const operand_view& v = call.in[i];
    if (in[i]) continue;
    if (!copy_few(call.space, size_of(v.type), free, together, v.data, v.stride, copy))
      gather({coalesce(call.space, {v.stride})}, size_of(v.type), v.data, 0, total, free, copy);
    in[i] = free;
    free += slot;
  }
  span({in.data(), call.out.data, 0, total, call.scalars, more.data()});
  return true;
}

}  // namespace onto::detail
