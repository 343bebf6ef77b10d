// SPDX-License-Identifier: BSL-1.0
// The kernels of convolutions on GPUs in programs that define ONTO_HAS_CUDNN and link cuDNN: its engines, and onto's
// own kernels where it has none. <onto/convolution.hpp> includes this.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA && defined(ONTO_HAS_CUDNN)

#include <onto/backend/cuda/convolution.hpp>
#include <onto/backend/cuda/cudnn/convolution.hpp>
#include <onto/backend/cuda/kernels.hpp>
#include <onto/backend/cuda/matmul.hpp>
#include <onto/ops/convolution.hpp>

#include <cstdint>
#include <cstring>
#include <limits>

namespace onto::detail {

/// A `convolution_finish`: a map.
template <class T>
ONTO_COLD void finish_convolution(gpu_context& context, const kernel_call& call, const operand_view& from) {
  const extents& space = call.shapes[call.inputs];
  const matmul_form& f = call.form;
  if (f.beta == 0) return launch_addend<T>(context, space, from, call.out, f.alpha, f.relu);
  using code = scaled_sum_program<element_of<T>>;
  using number = computed_of<T>;
  const number values[] = {static_cast<number>(f.alpha), static_cast<number>(f.beta),
                           f.relu ? number(0) : -std::numeric_limits<number>::infinity()};
  std::uint64_t scalars[3] = {};
  for (int k = 0; k < 3; ++k) std::memcpy(&scalars[k], &values[k], sizeof values[k]);
  const operand_view operands[] = {from, call.in[call.inputs - 1]};
  map_layout all;
  set_layout(all, space, 2, operands, call.out.data, call.out.stride);
  all.bytes = map_bytes<code>::value;
  map_job job{context.stream, "launching what follows a convolution", scalars};
  for_each_short(all, &launch_map<code, false>, &job);
}

/// A convolution or one of its gradients: by cuDNN, or where it has no plan in the memory that there is, without it.
/// *Throws* `resource_exhausted_error` or `internal_error` where cuDNN fails.
template <convolution_part Part, class T>
void cudnn_convolution(gpu_context& context, const kernel_call& call) {
  if (!cudnn_convolve<Part>(context, call, &finish_convolution<T>)) plain_cuda_convolution<Part, T>(context, call);
}

template <convolution_part Part>
struct cudnn_convolutions {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_in_stream<&cudnn_convolution<Part, T>>, &cudnn_convolution_workspace<Part>, &no_least_workspace};
  }
};

template <int... O>
struct operation_kernels<op::convolution<O...>, cuda_backend> : cudnn_convolutions<convolution_part::forward> {};
template <int... O>
struct operation_kernels<op::convolution_image_gradient<O...>, cuda_backend>
    : cudnn_convolutions<convolution_part::image_gradient> {};
template <int... O>
struct operation_kernels<op::transposed_convolution<O...>, cuda_backend>
    : cudnn_convolutions<convolution_part::image_gradient> {};
template <int... O>
struct operation_kernels<op::convolution_filter_gradient<O...>, cuda_backend>
    : cudnn_convolutions<convolution_part::filter_gradient> {};

}  // namespace onto::detail

#endif
