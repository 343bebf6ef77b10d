// SPDX-License-Identifier: BSL-1.0
// Convolutions on the GPU without a library: a tiled matrix product whose blocks fetch windows into shared memory as
// they go, or, where a group has few channels, a thread or a block for each element. Where there are few tiles, which
// long sums of a filter's gradient have, blocks share a sum (split-K): their parts go to the workspace and are added in
// order. Sums have the same order in every run.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/kernels.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/kernel/convolution_product.hpp>
#include <onto/kernel/workspace.hpp>
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

/// How sums are shared by blocks: `count` parts of `depth` terms.
struct sum_parts {
  std::int64_t count = 1, depth = 0;

  /// Of a sum for which there is room for `most` parts. Enough of them to fill a GPU, each worth a block.
  static sum_parts of(const convolution_product& p, std::int64_t tiles, std::int64_t most) {
    constexpr std::int64_t shortest = 16 * product_depth;
    const std::int64_t wanted = least(enough_blocks / greatest(tiles, 1), p.depth / shortest);
    sum_parts s;
    s.count = greatest(least(wanted, most), 1);
    s.depth = greatest(divide_up(divide_up(p.depth, s.count), product_depth), 1) * product_depth;
    s.count = greatest(divide_up(p.depth, s.depth), 1);
    return s;
  }
};

/// Where part `part` of an element's sum is: the parts lie one after another, each as the product does.
ONTO_HD ONTO_INLINE std::int64_t part_at(const convolution_product& p, std::int64_t part, std::int64_t g,
                                         std::int64_t row, std::int64_t column) {
  return ((part * p.groups + g) * p.rows + row) * p.columns + column;
}

/// `parts`: null where a block makes the whole of its sums.
template <convolution_part Part, class T, class Number>
__global__ void __launch_bounds__(block_threads)
    convolution_tile_kernel(const __grid_constant__ convolution_product p, const __grid_constant__ sum_parts shared,
                            const T* left, const T* right,
                            const __grid_constant__ convolution_epilogue<Number> epilogue, const T* addend,
                            Number* parts, T* out) {
  // A row more than the tile has: threads that write neighbouring terms meet different banks.
  constexpr int row = product_tile + 1, fetched = product_tile * product_depth / block_threads;
  Number* const a = shared_array<Number, row * product_depth, 0>();
  Number* const b = shared_array<Number, row * product_depth, 1>();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first_row = std::int64_t{blockIdx.x} * product_tile,
                     first_column = std::int64_t{blockIdx.y} * product_tile, g = blockIdx.z / shared.count,
                     own = blockIdx.z - g * shared.count, end = least(p.depth, (own + 1) * shared.depth);
  const int rows = thread / 16 * product_lanes, columns = thread % 16 * product_lanes;
  Number sum[product_lanes][product_lanes] = {}, part[product_lanes][product_lanes] = {};
  for (std::int64_t k0 = own * shared.depth; k0 < end; k0 += product_depth) {
    for (int k = 0; k < fetched; ++k) {
      const int e = thread + k * block_threads, term = e % product_depth, i = e / product_depth;
      const int j = e % product_tile, below = e / product_tile;
      found_element l{0, false};
      if (first_row + i < p.rows && k0 + term < end) l = left_of<Part>(p, g, first_row + i, k0 + term);
      device_store(a + term * row + i, l.there ? static_cast<Number>(device_load(left + l.at)) : Number{0});
      Number value{0};
      if (first_column + j < p.columns && k0 + below < end)
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
      if (r >= p.rows || c >= p.columns) continue;
      if (parts)
        device_store(parts + part_at(p, own, g, r, c), sum[i][j] + part[i][j]);
      else
        leave_element<Part>(p, epilogue, g, r, c, sum[i][j] + part[i][j], addend, out);
    }
}

/// Adds the parts of sums in order.
template <convolution_part Part, class T, class Number>
__global__ void __launch_bounds__(block_threads)
    convolution_parts_kernel(const __grid_constant__ convolution_product p, std::int64_t count, const Number* parts,
                             const __grid_constant__ convolution_epilogue<Number> epilogue, const T* addend, T* out) {
  const std::int64_t all = p.groups * p.rows * p.columns, threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t e = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; e < all; e += threads) {
    Number sum{0};
    for (std::int64_t k = 0; k < count; ++k) sum += device_load(parts + k * all + e);
    const std::int64_t column = e % p.columns, rest = e / p.columns, g = rest / p.rows;
    leave_element<Part>(p, epilogue, g, rest - g * p.rows, column, sum, addend, out);
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

/// The call's part of a convolution as a product.
template <convolution_part Part>
ONTO_COLD convolution_product product_of_call(const kernel_call& call, element type) {
  const window_options o(call.op->attribute);
  const convolution_form f = convolution_form_of(Part, *call.op, type, call.shapes, call.inputs);
  constexpr bool forward = Part == convolution_part::forward, by_filter = Part == convolution_part::filter_gradient;
  // Each operand is the image, the filter or the result.
  return product_of_convolution(f, o, forward || by_filter ? call.in[0].stride : call.out.stride,
                                by_filter ? call.out.stride : call.in[1].stride,
                                forward     ? call.out.stride
                                : by_filter ? call.in[1].stride
                                            : call.in[0].stride);
}

/// The grid of a product in tiles.
struct product_grid {
  std::int64_t across, down;
  bool tiled;  // else a group has too few channels, or there are more tiles than a grid has blocks

  explicit product_grid(const convolution_product& p)
      : across(divide_up(p.columns, product_tile)), down(divide_up(p.rows, product_tile)) {
    constexpr std::int64_t few_columns = 8, most_down = 1 << 24;
    tiled = p.columns >= few_columns && across <= most_in_grid && down <= most_down && p.groups <= most_in_grid;
  }
  sum_parts parts(const convolution_product& p, std::int64_t most) const {
    return sum_parts::of(p, across * down * p.groups, least(most, most_in_grid / p.groups));
  }

  static constexpr std::int64_t most_in_grid = 65535;
};

/// Bytes of device memory for the parts of sums. With less, fewer blocks share a sum.
template <convolution_part Part, class T>
ONTO_COLD std::size_t plain_convolution_workspace(const kernel_call& call) {
  if (call.shapes[call.inputs].size() <= 0) return 0;
  const convolution_product p = product_of_call<Part>(call, element_of<T>);
  const product_grid grid(p);
  if (!grid.tiled) return 0;
  const std::int64_t count = grid.parts(p, p.depth).count;
  const std::int64_t bytes = p.groups * p.rows * p.columns * static_cast<std::int64_t>(sizeof(computed_of<T>));
  return count > 1 ? static_cast<std::size_t>(count * bytes) : 0;
}
/// None is needed: with less, blocks make whole sums, or cuDNN has other engines.
inline std::size_t no_least_workspace(const kernel_call&) { return 0; }

/// The call's part of a convolution over operands of type `T`.
template <convolution_part Part, class T>
void plain_cuda_convolution(gpu_context& context, const kernel_call& call) {
  const extents& made = call.shapes[call.inputs];
  if (made.size() <= 0) return;
  const convolution_product p = product_of_call<Part>(call, element_of<T>);
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
    epilogue.addend = strides_of_images(window_options(call.op->attribute), v.stride);
  }
  constexpr std::int64_t long_sum = 4096;
  const std::int64_t all = p.groups * p.rows * p.columns;
  const char* const what = "a convolution";
  if (const product_grid grid(p); grid.tiled) {
    const auto room = call.workspace ? call.workspace_bytes / static_cast<std::int64_t>(sizeof(number)) : 0;
    const sum_parts shared = grid.parts(p, room / all);
    auto* const parts = shared.count > 1 ? static_cast<number*>(call.workspace) : nullptr;
    launch(context.stream, what, &convolution_tile_kernel<Part, T, number>,
           {dim3(grid_blocks(grid.down), static_cast<unsigned>(grid.across),
                 static_cast<unsigned>(p.groups * shared.count))},
           p, shared, left, right, epilogue, addend, parts, out);
    if (parts)
      launch(context.stream, what, &convolution_parts_kernel<Part, T, number>, blocks_for(all), p, shared.count,
             static_cast<const number*>(parts), epilogue, addend, out);
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
    return {&run_in_stream<&plain_cuda_convolution<Part, T>>, &plain_convolution_workspace<Part, T>,
            &no_least_workspace};
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
