// SPDX-License-Identifier: BSL-1.0
// Maps of rolled operands: the space in boxes, in each of which every operand is one of strides, as a domain with
// periodic boundaries is the inside and its edges.
#pragma once

#include <onto/backend/cuda/map_layout.hpp>

#include <cstdint>

namespace onto::detail {

/// Where the boxes begin along dimension `d`, in order, then its extent: at 0, and where an operand is read around the
/// end. *Returns* how many boxes there are along it.
ONTO_COLD inline int box_begins(const kernel_call& call, int d, int* begin) {
  const int extent = call.space.dims[d];
  int count = 1;
  begin[0] = 0;
  for (int k = 0; k < call.inputs; ++k) {
    const operand_view& v = call.in[k];
    if (!v.rolled || v.rolled[d] == 0 || v.stride[d] == 0) continue;
    const int seam = extent - v.rolled[d];
    int at = count;
    while (begin[at - 1] > seam) --at;
    if (begin[at - 1] == seam) continue;
    for (int j = count++; j > at; --j) begin[j] = begin[j - 1];
    begin[at] = seam;
  }
  begin[count] = extent;
  return count;
}

/// Calls `take` with the layouts of a call's boxes, one after another: of its space, where no operand is rolled.
ONTO_COLD inline void for_each_box(const kernel_call& call, int inputs, int more, const std::int8_t* bytes,
                                   void (*take)(void* job, const map_layout& part), void* job) {
  map_layout part;
  if (!call.rolls) {
    set_layout(part, call, inputs, more, bytes);
    return for_each_short(part, take, job);
  }
  int begin[max_rank][max_kernel_inputs + 2], count[max_rank], at[max_rank]{};
  for (int d = 0; d < call.space.rank; ++d) count[d] = box_begins(call, d, begin[d]);
  std::int64_t out_stride[max_rank];
  contiguous_strides(call.space, out_stride);
  operand_view in[max_kernel_inputs];
  while (true) {
    extents box = call.space;
    std::int64_t first = 0;
    for (int k = 0; k < inputs; ++k) in[k] = call.in[k];
    for (int d = 0; d < box.rank; ++d) {
      const int from = begin[d][at[d]], extent = call.space.dims[d];
      box.dims[d] = begin[d][at[d] + 1] - from;
      first += from * out_stride[d];
      for (int k = 0; k < inputs; ++k) {
        const std::int64_t further = in[k].rolled ? from + std::int64_t{in[k].rolled[d]} : from;
        in[k].data = advance(in[k].data, (further < extent ? further : further - extent) * in[k].stride[d], in[k].type);
      }
    }
    set_layout(part, box, inputs, in, advance(call.out.data, first, call.out.type), out_stride);
    part.bytes = bytes;
    part.more = more;
    part.more_out = call.more_out;
    part.first = first;
    for_each_short(part, take, job);
    int d = box.rank - 1;
    while (d >= 0 && ++at[d] == count[d]) at[d--] = 0;
    if (d < 0) return;
  }
}

}  // namespace onto::detail
