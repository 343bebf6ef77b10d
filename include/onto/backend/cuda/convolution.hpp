// SPDX-License-Identifier: BSL-1.0
// Convolutions on the GPU without a library: a tiled matrix product whose blocks fetch windows into shared memory as
// they go, or, where a group has few channels, a thread or a block for each element. Sums have the same order in every
// run.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/kernels.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/kernel/convolution_product.hpp>
#include <onto/ops/convolution.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// A block computes so many rows and columns, so many terms of each at a time; a thread, 4 x 4 of them.
inline constexpr int product_tile = 64, product_depth = 16, product_lanes = 4;
static_assert(product_tile / product_lanes * (product_tile / product_lanes) == block_threads);

/// Terms that are summed before they join the sum of the others, so that no sum is long.
inline constexpr std::int64_t product_terms = 1024;

/// Puts an element of the product where it belongs, with what follows. `addend`: null where nothing is added; it may be
/// where the result is.
template <convolution_part Part, class T, class Number>
ONTO_HD ONTO_INLINE void leave_element(const convolution_product& p, const convolution_epilogue<Number>& epilogue,
                                       std::int64_t g, std::int64_t row, std::int64_t column, Number made,
                                       const T* addend, T* out) {
  if constexpr (Part != convolution_part::filter_gradient) {
    made = epilogue.scaled(made);
    if (addend)
      made = epilogue.added(
          made, static_cast<Number>(device_load(addend + made_in_images<Part>(p, epilogue.addend, g, row, column))));
    made = epilogue.finished(made);
  }
  device_store(out + made_at<Part>(p, g, row, column), static_cast<T>(made));
}

template <convolution_part Part, class T, class Number>
__global__ void __launch_bounds__(block_threads)
    convolution_tile_kernel(const __grid_constant__ convolution_product p, const T* left, const T* right,
                            const __grid_constant__ convolution_epilogue<Number> epilogue, const T* addend, T* out) {
  // A row more than the tile has: threads that write neighbouring terms meet different banks.
  constexpr int row = product_tile + 1, fetched = product_tile * product_depth / block_threads;
  Number* const a = shared_array<Number, row * product_depth, 0>();
  Number* const b = shared_array<Number, row * product_depth, 1>();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first_row = std::int64_t{blockIdx.x} * product_tile,
                     first_column = std::int64_t{blockIdx.y} * product_tile, g = blockIdx.z;
  const int rows = thread / 16 * product_lanes, columns = thread % 16 * product_lanes;
  Number sum[product_lanes][product_lanes] = {}, part[product_lanes][product_lanes] = {};
  for (std::int64_t k0 = 0; k0 < p.depth; k0 += product_depth) {
    for (int k = 0; k < fetched; ++k) {
      const int e = thread + k * block_threads, term = e % product_depth, i = e / product_depth;
      const int j = e % product_tile, below = e / product_tile;
      found_element l{0, false};
      if (first_row + i < p.rows && k0 + term < p.depth) l = left_of<Part>(p, g, first_row + i, k0 + term);
      device_store(a + term * row + i, l.there ? static_cast<Number>(device_load(left + l.at)) : Number{0});
      Number value{0};
      if (first_column + j < p.columns && k0 + below < p.depth)
        value = static_cast<Number>(device_load(right + right_of<Part>(p, g, k0 + below, first_column + j)));
      device_store(b + below * row + j, value);
    }
    __syncthreads();
    for (int k = 0; k < product_depth; ++k) {
      Number x[product_lanes], y[product_lanes];
      for (int i = 0; i < product_lanes; ++i) {
        x[i] = device_load(a + k * row + rows + i);
        y[i] = device_load(b + k * row + columns + i);
      }
      for (int i = 0; i < product_lanes; ++i)
        for (int j = 0; j < product_lanes; ++j) part[i][j] += x[i] * y[j];
    }
    __syncthreads();
    if ((k0 + product_depth) % product_terms == 0)
      for (int i = 0; i < product_lanes; ++i)
        for (int j = 0; j < product_lanes; ++j) {
          sum[i][j] += part[i][j];
          part[i][j] = 0;
        }
  }
  for (int i = 0; i < product_lanes; ++i)
    for (int j = 0; j < product_lanes; ++j) {
      const std::int64_t r = first_row + rows + i, c = first_column + columns + j;
      if (r < p.rows && c < p.columns) leave_element<Part>(p, epilogue, g, r, c, sum[i][j] + part[i][j], addend, out);
    }
}

/// An element of the product; `Together`: by all threads of a block.
template <convolution_part Part, bool Together, class T, class Number>
__global__ void __launch_bounds__(block_threads)
    convolution_element_kernel(const __grid_constant__ convolution_product p, const T* left, const T* right,
                               const __grid_constant__ convolution_epilogue<Number> epilogue, const T* addend, T* out) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t all = p.groups * p.rows * p.columns,
                     step = std::int64_t{gridDim.x} * (Together ? 1 : block_threads);
  const std::int64_t begin = Together ? std::int64_t{blockIdx.x} : std::int64_t{blockIdx.x} * block_threads + thread;
  for (std::int64_t e = begin; e < all; e += step) {
    const std::int64_t column = e % p.columns, g = e / p.columns % p.groups, r = e / p.columns / p.groups;
    Number sum{0}, part{0};
    int terms = 0;
    for (std::int64_t k = Together ? thread : 0; k < p.depth; k += Together ? block_threads : 1) {
      const found_element l = left_of<Part>(p, g, r, k);
      if (l.there)
        part += static_cast<Number>(device_load(left + l.at)) *
                static_cast<Number>(device_load(right + right_of<Part>(p, g, k, column)));
      if (++terms < product_terms) continue;
      sum += part;
      part = 0;
      terms = 0;
    }
    sum += part;
    if constexpr (Together) {
      Number* const sums = shared_array<Number, block_threads, 2>();
      device_store(sums + thread, sum);
      for (int n = block_threads / 2; n > 0; n /= 2) {
        __syncthreads();
        if (thread < n) device_store(sums + thread, device_load(sums + thread) + device_load(sums + thread + n));
      }
      __syncthreads();  // all has been read: the next element's sums may come
      if (thread == 0) leave_element<Part>(p, epilogue, g, r, column, device_load(sums), addend, out);
    } else {
      leave_element<Part>(p, epilogue, g, r, column, sum, addend, out);
    }
  }
}

/// The call's part of a convolution over operands of type `T`.
template <convolution_part Part, class T>
void plain_cuda_convolution(gpu_context& context, const kernel_call& call) {
  const extents& made = call.shapes[call.inputs];
  if (made.size() <= 0) return;
  const window_options o(call.op->attribute);
  const convolution_form f = convolution_form_of(Part, *call.op, element_of<T>, call.shapes, call.inputs);
  constexpr bool forward = Part == convolution_part::forward, by_filter = Part == convolution_part::filter_gradient;
  // Each operand is the image, the filter or the result.
  const convolution_product p = product_of_convolution(f, o, forward || by_filter ? call.in[0].stride : call.out.stride,
                                                       by_filter ? call.out.stride : call.in[1].stride,
                                                       forward     ? call.out.stride
                                                       : by_filter ? call.in[1].stride
                                                                   : call.in[0].stride);
  const auto* const left = static_cast<const T*>(call.in[0].data);
  const auto* const right = static_cast<const T*>(call.in[1].data);
  auto* const out = static_cast<T*>(call.out.data);
  using number = computed_of<T>;
  convolution_epilogue<number> epilogue{
      static_cast<number>(call.form.alpha), static_cast<number>(call.form.beta), call.form.relu, {}};
  const T* addend = nullptr;
  if (call.form.beta != 0) {
    const operand_view& v = call.in[call.inputs - 1];
    addend = static_cast<const T*>(v.data);
    epilogue.addend = strides_of_images(o, v.stride);
  }
  constexpr std::int64_t few_columns = 8, most_in_grid = 65535, most_down = 1 << 24;
  constexpr std::int64_t long_sum = 4096;
  const std::int64_t across = divide_up(p.columns, product_tile), down = divide_up(p.rows, product_tile);
  const std::int64_t all = p.groups * p.rows * p.columns;
  const char* const what = "a convolution";
  if (p.columns >= few_columns && across <= most_in_grid && down <= most_down && p.groups <= most_in_grid) {
    launch(context.stream, what, &convolution_tile_kernel<Part, T, number>,
           {dim3(grid_blocks(down), static_cast<unsigned>(across), static_cast<unsigned>(p.groups))}, p, left, right,
           epilogue, addend, out);
  } else if (p.depth >= long_sum) {
    launch(context.stream, what, &convolution_element_kernel<Part, true, T, number>, {grid_blocks(all)}, p, left, right,
           epilogue, addend, out);
  } else {
    launch(context.stream, what, &convolution_element_kernel<Part, false, T, number>, blocks_for(all), p, left, right,
           epilogue, addend, out);
  }
}

#if !defined(ONTO_HAS_CUDNN)  // else cuDNN's: backend/cuda/cudnn

template <convolution_part Part>
struct plain_cuda_convolutions {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_in_stream<&plain_cuda_convolution<Part, T>>};
  }
};

template <int... O>
struct operation_kernels<op::convolution<O...>, cuda_backend> : plain_cuda_convolutions<convolution_part::forward> {};
template <int... O>
struct operation_kernels<op::convolution_image_gradient<O...>, cuda_backend>
    : plain_cuda_convolutions<convolution_part::image_gradient> {};
template <int... O>
struct operation_kernels<op::transposed_convolution<O...>, cuda_backend>
    : plain_cuda_convolutions<convolution_part::image_gradient> {};
template <int... O>
struct operation_kernels<op::convolution_filter_gradient<O...>, cuda_backend>
    : plain_cuda_convolutions<convolution_part::filter_gradient> {};

#endif

}  // namespace onto::detail

#endif  // ONTO_CUDA
