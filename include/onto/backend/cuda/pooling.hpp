// SPDX-License-Identifier: BSL-1.0
// Pooling on the GPU: a thread for each element of the result. In gradients it goes over the windows that the element
// is in, so that no two threads write to one.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/kernels.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/kernel/index_divisor.hpp>
#include <onto/kernel/pooling.hpp>
#include <onto/ops/pooling.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// An operand by the distances of batches, lines, pixels and channels.
struct pooled_operand {
  const void* data;
  std::int64_t batch, line, pixel, channel;

  ONTO_HD std::int64_t at(std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) const {
    return n * batch + y * line + x * pixel + c * channel;
  }
};

/// `made`: the extents of what is computed, in the order of its own axes, which are (n, y, x, c) or (n, c, y, x).
struct pooling_call {
  pooling_form form;  // of which batch and channels are not looked at
  bool channels_last;
  index_divisor made[4];
  std::int64_t size;
  pooled_operand first, second;
};

/// Where the greatest element of a window is.
template <class T>
ONTO_HD ONTO_INLINE std::int64_t greatest_of_window(const pooling_form& f, const pooled_operand& image, std::int64_t n,
                                                    std::int64_t y, std::int64_t x, std::int64_t c) {
  using number = computed_of<T>;
  const auto* const data = static_cast<const T*>(image.data);
  std::int64_t row = 0, rows = 0, column = 0, columns = 0;
  window_range(f, 0, y, row, rows);
  window_range(f, 1, x, column, columns);
  std::int64_t best = image.at(n, row, column, c);
  number most = static_cast<number>(device_load(data + best));
  for (std::int64_t i = row; i < row + rows; ++i)
    for (std::int64_t j = column; j < column + columns; ++j) {
      const std::int64_t at = image.at(n, i, j, c);
      const number v = static_cast<number>(device_load(data + at));
      if (!is_greater(v, most)) continue;
      most = v;
      best = at;
    }
  return best;
}

template <pooling_part Part, class T>
ONTO_HD ONTO_INLINE T pooled_element(const pooling_call& call, std::int64_t n, std::int64_t y, std::int64_t x,
                                     std::int64_t c) {
  using number = computed_of<T>;
  const pooling_form& f = call.form;
  const auto* const first = static_cast<const T*>(call.first.data);
  if constexpr (Part == pooling_part::max) {
    return device_load(first + greatest_of_window<T>(f, call.first, n, y, x, c));
  } else if constexpr (Part == pooling_part::pick) {
    const std::int64_t best = greatest_of_window<T>(f, call.second, n, y, x, c);
    std::int64_t row = 0, rows = 0, column = 0, columns = 0;
    window_range(f, 0, y, row, rows);
    window_range(f, 1, x, column, columns);
    for (std::int64_t i = row; i < row + rows; ++i)
      for (std::int64_t j = column; j < column + columns; ++j)
        if (call.second.at(n, i, j, c) == best) return device_load(first + call.first.at(n, i, j, c));
    return T{};
  } else if constexpr (Part == pooling_part::mean) {
    std::int64_t row = 0, rows = 0, column = 0, columns = 0;
    window_range(f, 0, y, row, rows);
    window_range(f, 1, x, column, columns);
    number sum{0};
    for (std::int64_t i = row; i < row + rows; ++i)
      for (std::int64_t j = column; j < column + columns; ++j)
        sum += static_cast<number>(device_load(first + call.first.at(n, i, j, c)));
    return static_cast<T>(sum * (number{1} / static_cast<number>(rows * columns)));
  } else {
    // The windows over this element of the image.
    std::int64_t lo[2], hi[2];
    const std::int64_t place[2] = {y, x};
    for (int a = 0; a < 2; ++a) {
      const std::int64_t from = place[a] + f.before[a] - f.window[a] + 1, to = (place[a] + f.before[a]) / f.stride[a];
      lo[a] = from <= 0 ? 0 : (from + f.stride[a] - 1) / f.stride[a];
      hi[a] = to < f.result[a] ? to + 1 : f.result[a];
    }
    number sum{0};
    for (std::int64_t i = lo[0]; i < hi[0]; ++i)
      for (std::int64_t j = lo[1]; j < hi[1]; ++j) {
        const number g = static_cast<number>(device_load(first + call.first.at(n, i, j, c)));
        if constexpr (Part == pooling_part::max_gradient) {
          if (greatest_of_window<T>(f, call.second, n, i, j, c) == call.second.at(n, y, x, c)) sum += g;
        } else {
          std::int64_t begin = 0, rows = 0, columns = 0;
          window_range(f, 0, i, begin, rows);
          window_range(f, 1, j, begin, columns);
          sum += g * (number{1} / static_cast<number>(rows * columns));
        }
      }
    return static_cast<T>(sum);
  }
}

template <pooling_part Part, class T>
__global__ void __launch_bounds__(block_threads) pooling_kernel(const __grid_constant__ pooling_call call, T* out) {
  const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < call.size; k += threads) {
    std::int64_t at[4], rest = k;
    for (int d = 3; d > 0; --d) {
      const std::int64_t above = call.made[d].divide(rest);
      at[d] = rest - above * call.made[d].divisor;
      rest = above;
    }
    if (call.channels_last)
      device_store(out + k, pooled_element<Part, T>(call, rest, at[1], at[2], at[3]));
    else
      device_store(out + k, pooled_element<Part, T>(call, rest, at[2], at[3], at[1]));
  }
}

template <pooling_part Part, class T>
void cuda_pooling(gpu_context& context, const kernel_call& call) {
  constexpr bool back = Part == pooling_part::max_gradient || Part == pooling_part::mean_gradient;
  const extents& made = call.shapes[call.inputs];
  if (made.size() <= 0) return;
  const window_options o(call.op->attribute);
  const int line = first_image_axis(o), channel = channel_axis(o);
  pooling_call c{};
  c.form = pooling_form_of(o, back ? made : call.shapes[0], back ? call.shapes[0] : made);
  c.channels_last = o.layout == image_layout::nhwc;
  c.size = made.size();
  for (int d = 0; d < 4; ++d) c.made[d] = index_divisor(made.dims[d]);
  const auto operand = [&](const operand_view& v) {
    return pooled_operand{v.data, v.stride[0], v.stride[line], v.stride[line + 1], v.stride[channel]};
  };
  c.first = operand(call.in[0]);
  c.second = operand(call.in[call.inputs - 1]);
  launch(context.stream, "pooling", &pooling_kernel<Part, T>, blocks_for(c.size), c, static_cast<T*>(call.out.data));
}

template <pooling_part Part>
struct cuda_poolings {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_in_stream<&cuda_pooling<Part, T>>};
  }
};

template <int... O>
struct operation_kernels<op::max_pool<O...>, cuda_backend> : cuda_poolings<pooling_part::max> {};
template <int... O>
struct operation_kernels<op::max_pool_gradient<O...>, cuda_backend> : cuda_poolings<pooling_part::max_gradient> {};
template <int... O>
struct operation_kernels<op::max_pool_pick<O...>, cuda_backend> : cuda_poolings<pooling_part::pick> {};
template <int... O>
struct operation_kernels<op::avg_pool<O...>, cuda_backend> : cuda_poolings<pooling_part::mean> {};
template <int... O>
struct operation_kernels<op::avg_pool_gradient<O...>, cuda_backend> : cuda_poolings<pooling_part::mean_gradient> {};

}  // namespace onto::detail

#endif  // ONTO_CUDA
