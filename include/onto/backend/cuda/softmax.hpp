// SPDX-License-Identifier: BSL-1.0
// Softmax and its logarithm over one axis on the GPU.
#pragma once

#include <onto/backend/cuda/row.hpp>
#include <onto/backend/cuda/softmax_rows.hpp>
#include <onto/ops/softmax.hpp>

#include <cstdint>

namespace onto::detail {

/// Softmax, or log softmax, of the call's input over the axis that its operation names.
/// *Throws* `internal_error` where the kernel cannot be launched.
template <class T>
void cuda_softmax(gpu_context& context, const kernel_call& call) {
  const std::uint64_t log = to_bits(static_cast<computed_of<T>>(takes_logarithm(*call.op)));
  kernel_call rows = call;
  rows.scalars = &log;
  cuda_row<softmax_rows<element_of<T>>>(context, rows, softmax_axis(*call.op, call.space.rank));
}

/// Bytes of device memory that `cuda_softmax` needs for the call.
template <class T>
std::size_t cuda_softmax_workspace(const kernel_call& call) {
  const std::uint64_t log = 0;
  kernel_call rows = call;
  rows.scalars = &log;
  return cuda_row_workspace<softmax_rows<element_of<T>>>(rows, softmax_axis(*call.op, call.space.rank));
}

}  // namespace onto::detail
