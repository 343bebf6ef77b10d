// SPDX-License-Identifier: BSL-1.0
// Pooling on the GPU: a thread for each window, and in gradients for each element of the image or each cell of it, so
// that no two threads write to one.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/kernels.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/pooling_windows.hpp>
#include <onto/kernel/pooling.hpp>
#include <onto/ops/pooling.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>
#include <limits>

namespace onto::detail {

ONTO_HD constexpr bool is_gradient(pooling_part part) {
  return part == pooling_part::max_gradient || part == pooling_part::mean_gradient;
}

template <pooling_part Part, class T, class Index, class Windows>
__global__ void __launch_bounds__(block_threads)
    pooling_kernel(const __grid_constant__ pooling_call<Index> call, T* out) {
  const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < call.size; k += threads) {
    const pooling_place<Index> at = place_of(call, k);
    if constexpr (is_gradient(Part) && Windows::known)
      pooling_in_registers<Windows, T>::template cell<Part>(call, at);
    else if constexpr (is_gradient(Part))
      device_store(out + k, (pooling_of_any<T, Index>::template element<Part>(call, at)));
    else if constexpr (Windows::known)
      device_store(out + k, (pooling_in_registers<Windows, T>::template window<Part>(call, at)));
    else
      device_store(out + k, (pooling_of_any<T, Index>::template window<Part>(call, at)));
  }
}

/// A call of pooling, of which the places are those of `space`, which is laid out as the result is.
template <class Index>
pooling_call<Index> pooling_call_of(const kernel_call& call, const window_options& o, const pooling_form& f,
                                    const std::int64_t (&space)[4]) {
  pooling_call<Index> c{};
  const int line = first_image_axis(o), channel = channel_axis(o);
  for (int a = 0; a < 2; ++a) {
    c.image[a] = static_cast<Index>(f.image[a]);
    c.result[a] = static_cast<Index>(f.result[a]);
    c.window[a] = static_cast<Index>(f.window[a]);
    c.stride[a] = static_cast<Index>(f.stride[a]);
    c.before[a] = static_cast<Index>(f.before[a]);
    c.made[a] = divisor_for<Index>(space[2 + a]);
    c.by_stride[a] = divisor_for<Index>(f.stride[a]);
  }
  c.channels_last = o.layout == image_layout::nhwc;
  c.places_of_image = index_divisor(space[1] * space[2] * space[3]);
  c.size = space[0] * c.places_of_image.divisor;
  const auto operand = [&](const void* data, const std::int64_t* stride) {
    return pooled_operand<Index>{data, stride[0], stride[channel], static_cast<Index>(stride[line]),
                                 static_cast<Index>(stride[line + 1])};
  };
  c.first = operand(call.in[0].data, call.in[0].stride);
  c.second = operand(call.in[call.inputs - 1].data, call.in[call.inputs - 1].stride);
  std::int64_t stride[max_rank];
  contiguous_strides(call.shapes[call.inputs], stride);
  c.out = operand(call.out.data, stride);
  return c;
}

/// Whether 32 bits are enough for all that is computed of one image, of `places`.
inline bool has_short_images(const kernel_call& call, const window_options& o, const pooling_form& f,
                             std::int64_t places) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  bool fits = places <= most;
  for (int a = 0; a < 2; ++a) {
    // Cells and windows begin before the image and end behind it, by no more than a window and a stride.
    const std::int64_t beyond = f.window[a] + f.stride[a];
    fits = fits && f.image[a] + 2 * beyond <= most && (f.result[a] + 1) * f.stride[a] + beyond <= most;
  }
  const int line = first_image_axis(o);
  const auto reach = [&](std::int64_t line_stride, std::int64_t pixel_stride) {
    const auto along = [&](int a, std::int64_t stride) {
      return static_cast<double>(f.image[a] + f.result[a] + 2 * (f.window[a] + f.stride[a])) *
             static_cast<double>(stride < 0 ? -stride : stride);
    };
    return along(0, line_stride) + along(1, pixel_stride);
  };
  std::int64_t out[max_rank];
  contiguous_strides(call.shapes[call.inputs], out);
  double furthest = reach(out[line], out[line + 1]);
  for (int k = 0; k < call.inputs; ++k) {
    const double r = reach(call.in[k].stride[line], call.in[k].stride[line + 1]);
    if (r > furthest) furthest = r;
  }
  return fits && furthest <= static_cast<double>(most);
}

template <pooling_part Part, class T, class Index, class Windows>
void launch_pooling(gpu_context& context, const kernel_call& call, const window_options& o, const pooling_form& f,
                    const std::int64_t (&space)[4]) {
  const pooling_call<Index> c = pooling_call_of<Index>(call, o, f, space);
  launch(context.stream, "pooling", &pooling_kernel<Part, T, Index, Windows>, blocks_for(c.size), c,
         static_cast<T*>(call.out.data));
}

template <pooling_part Part, class T, class Windows>
void cuda_pooling(gpu_context& context, const kernel_call& call) {
  const extents& made = call.shapes[call.inputs];
  if (made.size() <= 0) return;
  const window_options o(call.op->attribute);
  constexpr bool back = is_gradient(Part);
  const pooling_form f = pooling_form_of(o, back ? made : call.shapes[0], back ? call.shapes[0] : made);
  std::int64_t space[4];
  for (int d = 0; d < 4; ++d) space[d] = made.dims[d];
  if (!has_short_images(call, o, f, space[1] * space[2] * space[3]))
    return launch_pooling<Part, T, std::int64_t, other_windows>(context, call, o, f, space);
  if constexpr (back && Windows::known)
    for (int a = 0; a < 2; ++a) space[first_image_axis(o) + a] = divide_up(f.image[a] + f.before[a], f.stride[a]);
  launch_pooling<Part, T, std::int32_t, Windows>(context, call, o, f, space);
}

template <pooling_part Part, class Op>
struct cuda_poolings {
  template <class T>
  static constexpr backend_kernel kernel() {
    constexpr window_options o = Op::options();
    using windows = decltype(windows_in_registers<o.window[0], o.window[1], o.stride[0], o.stride[1]>());
    return {&run_in_stream<&cuda_pooling<Part, T, windows>>};
  }
};

template <int... O>
struct operation_kernels<op::max_pool<O...>, cuda_backend> : cuda_poolings<pooling_part::max, op::max_pool<O...>> {};
template <int... O>
struct operation_kernels<op::max_pool_gradient<O...>, cuda_backend>
    : cuda_poolings<pooling_part::max_gradient, op::max_pool_gradient<O...>> {};
template <int... O>
struct operation_kernels<op::max_pool_pick<O...>, cuda_backend>
    : cuda_poolings<pooling_part::pick, op::max_pool_pick<O...>> {};
template <int... O>
struct operation_kernels<op::avg_pool<O...>, cuda_backend> : cuda_poolings<pooling_part::mean, op::avg_pool<O...>> {};
template <int... O>
struct operation_kernels<op::avg_pool_gradient<O...>, cuda_backend>
    : cuda_poolings<pooling_part::mean_gradient, op::avg_pool_gradient<O...>> {};

}  // namespace onto::detail

#endif  // ONTO_CUDA
